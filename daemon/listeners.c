#include "daemon/listeners.h"

#include <string.h>

#include <systemd/sd-daemon.h>

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

static int take_passed(struct http_server *http, int n)
{
	char err[ERROR_TEXT] = "";

	for (int i = 0; i < n; i++) {
		int r = http_server_listen_fd(http, SD_LISTEN_FDS_START + i, err, sizeof(err));

		if (r < 0) {
			log_error("http: %s", err);
			return r;
		}
	}
	log_info("http: serving %d sockets of the service manager; [http] listen is not used", n);
	return 0;
}

int listeners_open(struct http_server *http, const struct config *config)
{
	/* Workers must not take them for theirs. */
	int passed = sd_listen_fds(1);

	if (passed < 0) {
		log_error("http: the environment names sockets that are not there: %s",
			  strerror(-passed));
		return passed;
	}
	if (passed > 0)
		return take_passed(http, passed);
	for (size_t i = 0; i < config->n_listen; i++) {
		int r = open_one(http, &config->listen[i]);

		if (r < 0)
			return r;
	}
	return 0;
}
