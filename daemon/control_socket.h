/* The control socket: SOCK_SEQPACKET in the file system, mode 0600, for root and the daemon's own
 * user alone. A client sends one packet of text and gets one back; then the connection ends. Who is
 * slow, silent or one too many is dropped, and main never waits for anybody. */
#pragma once
#include <stddef.h>
#include <sys/types.h>
#include "core/loop.h"

#define CONTROL_SOCKET_PATH "/run/rdma-pingmesh/control"
#define CONTROL_SOCKET_CLIENTS 8
#define CONTROL_REQUEST_MAX 255		  /* bytes of printable ASCII */
#define CONTROL_PATIENCE_NS 5000000000ULL /* from connecting to asking */

struct control_socket;
struct control_client;

struct control_socket_events {
	/* What a client asks; "" when it was too long or no text. To be answered, now or later. */
	void (*request)(void *arg, struct control_client *c, const char *text);
	/* It left without waiting for its answer. */
	void (*gone)(void *arg, struct control_client *c);
};

/* A socket that a dead daemon left behind is replaced; that of a live one is -EADDRINUSE, and what
 * is no socket is left alone (-EEXIST). NULL with errno. */
struct control_socket *control_socket_new(struct loop *loop, const char *path,
					  const struct control_socket_events *events, void *arg);
/* NULL is fine. Clients that still wait are dropped; the path is unlinked. */
void control_socket_free(struct control_socket *s);
/* One packet, and the end of the client. A client that cannot take it loses it. */
void control_client_answer(struct control_client *c, const char *text, size_t len);
uid_t control_client_uid(const struct control_client *c);
