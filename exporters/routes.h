/* Which path answers what. Free of the HTTP library. */
#pragma once
#include "exporters/edition.h"
#include "exporters/http.h"
#include "exporters/request.h"

struct routes {
	const struct http_source *source;
	struct editions *editions;
};

/* Always fills in a reply; its done() has to be called once the body is not needed any more. */
void routes_answer(const struct routes *r, const struct http_request *req,
		   struct http_reply *reply);
