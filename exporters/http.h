/* The HTTP server of main: /metrics, the JSON API, health and the page, in main's loop. Nothing
 * in here waits for a device or a worker: all answers come from the last snapshot. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct loop;
struct snapshot;
struct journal;
struct journal_event;
struct http_server;
struct tls;
struct users;

/* Where the answers come from. Called in the loop's thread. */
struct http_source {
	struct snapshot *(*snapshot)(void *arg);     /* a new reference; NULL before the first */
	const struct journal *(*journal)(void *arg); /* NULL: none */
	bool (*ready)(void *arg);		     /* config loaded, first scan done, serving */
	/* POST /-/reload: 0, or -errno with a message for the client in err. */
	int (*reload)(void *arg, char *err, size_t errlen);
	bool allow_reload;
	void *arg;
	/* Events of before memory's; NULL: there are none. The first that can be read, 0 none: */
	uint64_t (*past_first)(void *arg);
	/* Some with numbers above after. done is called once, later, from the loop, with n 0 when
	 * they cannot be had after all. An id to cancel it by; 0: not now, and done is not called.
	 */
	uint64_t (*past_read)(void *arg, uint64_t after,
			      void (*done)(void *list, const struct journal_event *events,
					   size_t n),
			      void *list);
	void (*past_cancel)(void *arg, uint64_t id);
};

/* src is copied; what it points to must outlive the server. NULL with errno. */
struct http_server *http_server_new(struct loop *loop, const struct http_source *src);
void http_server_free(struct http_server *s); /* closes everything at once; NULL is fine */
/* Allow or forbid reloads by POST from now on. */
void http_server_allow_reload(struct http_server *s, bool allow);

/* Who may come, and how. */
struct http_protection {
	struct tls *tls;     /* NULL: plain HTTP */
	struct users *users; /* NULL: whoever asks is answered */
	bool plain_loopback; /* clients at 127.0.0.1 or ::1 speak plain HTTP nevertheless */
};

/* From now on; before the first call, plain HTTP for all. Takes references of its own. Connections
 * of before end with their next answer. Nothing has changed when it fails: -errno. */
int http_server_protect(struct http_server *s, const struct http_protection *p);

/* Listen at addr (sockaddr_in or sockaddr_in6, port included; port 0: any free one). [::] serves
 * both families, only IPv6 when another listener has the port for IPv4, and 0.0.0.0 where the
 * host has no IPv6. An address that [::] serves already is fine.
 * 0: listening. 1: the address is not on this host yet; it is tried again every second, and err
 * says so. -EADDRINUSE and kin: err names address and what to do. */
int http_server_listen(struct http_server *s, const struct sockaddr *addr, socklen_t len, char *err,
		       size_t errlen);
/* The same with a socket that listens already (socket activation); owned by the server from then
 * on, also when it is refused. 0 or -errno with err. */
int http_server_listen_fd(struct http_server *s, int fd, char *err, size_t errlen);
/* Port of the i-th listener, for tests with port 0; 0: no such. */
uint16_t http_server_port(const struct http_server *s, size_t i);
