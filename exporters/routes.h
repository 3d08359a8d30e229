/* Which path answers what. Free of the HTTP library. */
#pragma once
#include "exporters/edition.h"
#include "exporters/http.h"
#include "exporters/request.h"

struct routes {
	const struct http_source *source;
	struct editions *editions;
};

/* Answered without user and password: it is alive, it is ready, and no more. */
bool routes_is_public(const char *path);
/* 401: who asks has to say who they are. 429: too many passwords are being checked. */
void routes_refuse_user(struct http_reply *reply);
void routes_refuse_for_now(struct http_reply *reply);
/* Always fills in a reply; its done() has to be called once the body is not needed any more. */
void routes_answer(const struct routes *r, const struct http_request *req,
		   struct http_reply *reply);
