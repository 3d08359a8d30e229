/* A request and its reply, free of the HTTP library, so that routes can be tested alone. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define HTTP_PARAMS_MAX 16
#define HTTP_HEADER_MAX 16384 /* bytes of a header, request line included */

enum http_method { HTTP_GET, HTTP_HEAD, HTTP_POST, HTTP_OTHER };

struct http_param {
	const char *name;
	const char *value; /* "" for a name without one */
};

/* Strings live as long as the request. Headers are NULL when absent. */
struct http_request {
	enum http_method method;
	const char *path; /* decoded, without the query */
	struct http_param param[HTTP_PARAMS_MAX];
	size_t n_params;
	bool params_bad;    /* too many, or with a NUL inside */
	size_t header_size; /* bytes of the whole header, request line included */
	const char *accept, *accept_encoding;
	const char *host, *origin;
	const char *authorization;
};

/* The body is either `size` bytes at `data` or a stream by read(); done(arg) releases either and
 * is called once, also when the client went away. */
struct http_reply {
	unsigned status;
	const char *content_type;
	const char *allow;	 /* header Allow; NULL: none */
	const char *challenge;	 /* header WWW-Authenticate; NULL: none */
	const char *retry_after; /* seconds; NULL: none */
	bool gzip;		 /* data is gzip */
	bool is_page;		 /* gets the headers that a browser needs */
	const char *data;
	size_t size;
	/* 0: end; -EAGAIN: nothing yet, woken() is called when there is; negative: failed. */
	ssize_t (*read)(void *arg, char *buf, size_t max);
	/* Says whom to wake; NULL where read never has to wait. */
	void (*on_wake)(void *arg, void (*woken)(void *waiter), void *waiter);
	void (*done)(void *arg);
	void *arg;
	const void *holds; /* the edition that the body keeps alive; NULL: none */
};
