/* Where HTTP listens: the sockets that the service manager passed, or else the configuration. */
#pragma once

struct config;
struct http_server;

/* 0, or -errno after an error line that names the address and what to do. An address that this host
 * does not have yet is a warning; the server goes on trying. */
int listeners_open(struct http_server *http, const struct config *config);
