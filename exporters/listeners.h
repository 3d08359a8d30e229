/* The sockets that clients connect to, in main's loop. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct loop;
struct listeners;

/* A client has connected; fd is non-blocking and owned by the callee. */
typedef void (*listeners_client_fn)(void *arg, int fd, const struct sockaddr *addr, socklen_t len);
/* Called after each batch of clients; and when no descriptor is left for a client (fds_left
 * false): then something should be closed. Accepting pauses for a moment. */
typedef void (*listeners_batch_fn)(void *arg, bool fds_left);

struct listeners *listeners_new(struct loop *loop, listeners_client_fn client,
				listeners_batch_fn batch, void *arg); /* NULL with errno */
void listeners_free(struct listeners *all);
/* As http_server_listen() and http_server_listen_fd() say. */
int listeners_add(struct listeners *all, const struct sockaddr *addr, socklen_t len, char *err,
		  size_t errlen);
int listeners_add_fd(struct listeners *all, int fd, char *err, size_t errlen);
uint16_t listeners_port(const struct listeners *all, size_t i);
