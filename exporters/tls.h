/* What a TLS server shows and what it asks of its clients: the texts of its files, checked.
 * Immutable and counted: connections under a former certificate live on with it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TLS_TEXT_MAX (1u << 20) /* bytes of a file */

struct tls;

/* A PEM file as it was read; name is for messages. */
struct tls_text {
	const char *name, *text;
	size_t len;
};

/* client_ca NULL: clients need no certificate. NULL with a message that names the file. */
struct tls *tls_new(const struct tls_text *cert, const struct tls_text *key,
		    const struct tls_text *client_ca, char *err, size_t errlen);
struct tls *tls_ref(struct tls *t); /* NULL is fine, here and below */
void tls_unref(struct tls *t);
bool tls_equal(const struct tls *a, const struct tls *b);

const char *tls_cert(const struct tls *t);
const char *tls_key(const struct tls *t);
const char *tls_client_ca(const struct tls *t); /* NULL: none */
/* UNIX time at which the certificate, or one it is signed by in its file, ends. */
int64_t tls_not_after(const struct tls *t);

/* TLS 1.2 and 1.3, in GnuTLS's words. X25519 comes first because it is the share that clients send
 * with their hello: for another one they would be asked to begin again, a round trip more.
 * Exchanges with RSA or finite fields cost the server most and are not offered. */
#define TLS_PRIORITIES                                                                             \
	"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%SERVER_PRECEDENCE:-KX-ALL:+ECDHE-ECDSA:"      \
	"+ECDHE-RSA:-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1:+GROUP-SECP521R1"
/* Make a gnutls_session_t whose handshake is to come demand a certificate of the client that the
 * client CAs have signed. */
void tls_demand_certificate(void *session);
