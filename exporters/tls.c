#include "exporters/tls.h"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tls {
	unsigned refs;
	char *cert, *key, *client_ca;
	int64_t not_after;
};

static gnutls_datum_t datum_of(const char *text)
{
	return (gnutls_datum_t){(unsigned char *)(uintptr_t)text, (unsigned)strlen(text)};
}

static bool refuse(const char *name, const char *why, char *err, size_t errlen)
{
	snprintf(err, errlen, "%s: %s", name, why);
	return false;
}

/* --- the parts alone, for messages that name the file --- */

static bool read_certificates(struct tls *t, const char *name, char *err, size_t errlen)
{
	gnutls_datum_t text = datum_of(t->cert);
	gnutls_x509_crt_t *list;
	unsigned n = 0;
	int r = gnutls_x509_crt_list_import2(&list, &n, &text, GNUTLS_X509_FMT_PEM, 0);

	if (r < 0)
		return refuse(name, "is no PEM file of certificates", err, errlen);
	t->not_after = INT64_MAX;
	for (unsigned i = 0; i < n; i++) {
		int64_t end = gnutls_x509_crt_get_expiration_time(list[i]);

		if (end < t->not_after)
			t->not_after = end;
		gnutls_x509_crt_deinit(list[i]);
	}
	gnutls_free(list);
	return true;
}

static bool check_key(const struct tls *t, const char *name, char *err, size_t errlen)
{
	gnutls_datum_t text = datum_of(t->key);
	gnutls_x509_privkey_t key;
	int r = gnutls_x509_privkey_init(&key);

	if (r < 0)
		return refuse(name, gnutls_strerror(r), err, errlen);
	r = gnutls_x509_privkey_import2(key, &text, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN);
	gnutls_x509_privkey_deinit(key);
	if (r == GNUTLS_E_DECRYPTION_FAILED || strstr(t->key, "ENCRYPTED"))
		return refuse(name, "the key is encrypted: store it without a pass phrase", err,
			      errlen);
	return r == 0 || refuse(name, "is no PEM file of a private key", err, errlen);
}

/* --- the parts together --- */

static bool check_together(const struct tls *t, gnutls_certificate_credentials_t cred,
			   const struct tls_text *cert, const struct tls_text *key,
			   const struct tls_text *client_ca, char *err, size_t errlen)
{
	gnutls_datum_t cert_text = datum_of(t->cert), key_text = datum_of(t->key), ca_text;
	int r = gnutls_certificate_set_x509_key_mem2(cred, &cert_text, &key_text,
						     GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN);

	if (r < 0) {
		snprintf(err, errlen, "%s and %s: %s", cert->name, key->name,
			 r == GNUTLS_E_CERTIFICATE_KEY_MISMATCH
				 ? "the key is not that of the (first) certificate"
				 : gnutls_strerror(r));
		return false;
	}
	if (!t->client_ca)
		return true;
	ca_text = datum_of(t->client_ca);
	r = gnutls_certificate_set_x509_trust_mem(cred, &ca_text, GNUTLS_X509_FMT_PEM);
	return r > 0 || refuse(client_ca->name, "is no PEM file of certificates", err, errlen);
}

static bool check(struct tls *t, const struct tls_text *cert, const struct tls_text *key,
		  const struct tls_text *client_ca, char *err, size_t errlen)
{
	gnutls_certificate_credentials_t cred;
	bool good;
	int r;

	if (!read_certificates(t, cert->name, err, errlen) || !check_key(t, key->name, err, errlen))
		return false;
	r = gnutls_certificate_allocate_credentials(&cred);
	if (r < 0)
		return refuse(cert->name, gnutls_strerror(r), err, errlen);
	good = check_together(t, cred, cert, key, client_ca, err, errlen);
	gnutls_certificate_free_credentials(cred);
	return good;
}

/* --- life --- */

static char *copy(const struct tls_text *in, char *err, size_t errlen)
{
	char *text;

	if (in->len == 0 || in->len > TLS_TEXT_MAX || memchr(in->text, '\0', in->len)) {
		refuse(in->name, in->len ? "is no PEM file" : "is empty", err, errlen);
		return NULL;
	}
	text = strndup(in->text, in->len);
	if (!text)
		refuse(in->name, "out of memory", err, errlen);
	return text;
}

struct tls *tls_new(const struct tls_text *cert, const struct tls_text *key,
		    const struct tls_text *client_ca, char *err, size_t errlen)
{
	struct tls *t = calloc(1, sizeof(*t));

	if (!t) {
		refuse(cert->name, "out of memory", err, errlen);
		return NULL;
	}
	t->refs = 1;
	t->cert = copy(cert, err, errlen);
	t->key = t->cert ? copy(key, err, errlen) : NULL;
	if (t->key && client_ca)
		t->client_ca = copy(client_ca, err, errlen);
	if (t->key && (t->client_ca || !client_ca) && check(t, cert, key, client_ca, err, errlen))
		return t;
	tls_unref(t);
	return NULL;
}

struct tls *tls_ref(struct tls *t)
{
	if (t)
		t->refs++;
	return t;
}

void tls_unref(struct tls *t)
{
	if (!t || --t->refs > 0)
		return;
	if (t->key)
		explicit_bzero(t->key, strlen(t->key));
	free(t->key);
	free(t->cert);
	free(t->client_ca);
	free(t);
}

static bool same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

bool tls_equal(const struct tls *a, const struct tls *b)
{
	if (!a || !b)
		return a == b;
	return same(a->cert, b->cert) && same(a->key, b->key) && same(a->client_ca, b->client_ca);
}

const char *tls_cert(const struct tls *t)
{
	return t->cert;
}

const char *tls_key(const struct tls *t)
{
	return t->key;
}

const char *tls_client_ca(const struct tls *t)
{
	return t->client_ca;
}

int64_t tls_not_after(const struct tls *t)
{
	return t->not_after;
}

void tls_demand_certificate(void *session)
{
	/* Of a client, not of another server that the same CA has signed. */
	static char purpose_text[] = GNUTLS_KP_TLS_WWW_CLIENT;
	static gnutls_typed_vdata_st purpose = {.type = GNUTLS_DT_KEY_PURPOSE_OID,
						.data = (unsigned char *)purpose_text,
						.size = 0};

	gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUIRE);
	gnutls_session_set_verify_cert2(session, &purpose, 1, 0);
}
