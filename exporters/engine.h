/* One instance of libmicrohttpd in main's loop, with or without TLS: the glue between its callbacks
 * and ours. Connections come by engine_add(), not by the library's own listening: so one instance
 * serves every socket, and the server decides who leaves when there are too many. */
#pragma once
#include <stdbool.h>
#include <sys/socket.h>
#include "exporters/guests.h"
#include "exporters/request.h"

struct engine;
struct loop;
struct tls;

/* A request between its header and its answer. */
struct exchange {
	struct guest *guest;
	int word; /* 0, or what engine_resume() brought */
	/* The rest is the engine's. */
	struct engine *engine;
	void *connection;
	size_t body;
	bool waits;
	struct exchange *prev, *next; /* of those that wait */
};

struct engine_events {
	/* A connection begins; NULL: it will be answered nothing. */
	struct guest *(*enter)(void *arg, int fd, const struct sockaddr *addr);
	void (*leave)(void *arg, struct guest *g);
	/* True: the reply is filled in, and its body passes to the engine. False: not yet; nothing
	 * happens on the connection until engine_resume(), then the same is asked again. */
	bool (*answer)(void *arg, struct exchange *x, const struct http_request *req,
		       struct http_reply *reply);
};

/* tls NULL: plain HTTP. events must outlive the engine. NULL with errno. */
struct engine *engine_new(struct loop *loop, struct tls *tls, const struct engine_events *events,
			  void *arg);
/* Closes everything at once; NULL is fine. Exchanges that wait are gone then: nobody may resume
 * them any more. */
void engine_free(struct engine *e);
/* Takes fd over; nothing is read before engine_run(). */
void engine_add(struct engine *e, int fd, const struct sockaddr *addr, socklen_t len);
void engine_run(struct engine *e);
/* From now on each connection ends with its next answer. */
void engine_retire(struct engine *e);
bool engine_empty(const struct engine *e); /* no connection is left */
bool engine_waits(const struct engine *e); /* an exchange waits for engine_resume() */
/* Ask again for the answer of an exchange that waits, with this word. */
void engine_resume(struct exchange *x, int word);
