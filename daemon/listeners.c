#include "daemon/listeners.h"

#include "core/log.h"
#include "daemon/config.h"
#include "exporters/http.h"

#define ERROR_TEXT 256

static int open_one(struct http_server *http, const union address *a)
{
	char err[ERROR_TEXT] = "";
	socklen_t len = a->sa.sa_family == AF_INET ? sizeof(a->in) : sizeof(a->in6);
	int r = http_server_listen(http, &a->sa, len, err, sizeof(err));

	if (r < 0)
		log_error("http: %s", err);
	else if (r > 0)
		log_warn("http: %s", err);
	return r < 0 ? r : 0;
}

int listeners_open(struct http_server *http, const struct config *config)
{
	for (size_t i = 0; i < config->n_listen; i++) {
		int r = open_one(http, &config->listen[i]);

		if (r < 0)
			return r;
	}
	return 0;
}
