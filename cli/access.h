/* How a daemon is asked that wants TLS, a certificate of its client, or user and password. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Paths; NULL: not given. */
struct access {
	const char *cacert, *cert, *key; /* PEM */
	const char *login;		 /* a file with the line USER:PASSWORD */
	bool netrc;			 /* look into ~/.netrc */
};

/* What the environment says: RDMA_PINGMESH_CACERT, _CERT, _KEY and _LOGIN. */
void access_from_environment(struct access *a);
/* curl is a CURL *. False with a message that names the file. */
bool access_apply(const struct access *a, void *curl, char *err, size_t errlen);
