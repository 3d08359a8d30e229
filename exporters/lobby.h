/* Where TLS clients wait until their hello is complete. A handshake costs a signature at that
 * point, up to some 10 ms with a large RSA key, and the library shakes hands with everybody who is
 * ready in one go. So clients are let in from here, for a bounded time in each turn of the loop;
 * one that sends nothing, or half a hello, never gets as far as the library. */
#pragma once
#include <sys/socket.h>

struct guest;
struct loop;
struct lobby;

struct lobby_events {
	/* Takes the connection over; the guest is no longer known here. Here the handshake is made.
	 */
	void (*admit)(void *arg, struct guest *g, int fd, const struct sockaddr *addr,
		      socklen_t len);
	/* The client left; fd is closed already. */
	void (*left)(void *arg, struct guest *g);
};

/* NULL with errno. */
struct lobby *lobby_new(struct loop *loop, const struct lobby_events *events, void *arg);
/* Closes who waits, without a word; NULL is fine. */
void lobby_free(struct lobby *l);
/* Takes fd over. -ENOMEM: it is closed. */
int lobby_add(struct lobby *l, struct guest *g, int fd, const struct sockaddr *addr, socklen_t len);
