#include "probes/auth.h"

#include <endian.h>
#include <string.h>

#define PARTS_MAX 12

struct parts {
	struct mac_part part[PARTS_MAX];
	size_t n;
	uint32_t qpn[2]; /* big-endian */
};

static void add(struct parts *p, const void *data, size_t len)
{
	p->part[p->n++] = (struct mac_part){data, len};
}

static void add_connection(struct parts *p, const struct auth *a, const char *who)
{
	p->qpn[0] = htobe32(a->initiator.qpn);
	p->qpn[1] = htobe32(a->responder.qpn);
	add(p, who, strlen(who));
	add(p, a->initiator_nonce, sizeof(a->initiator_nonce));
	add(p, a->responder_nonce, sizeof(a->responder_nonce));
	add(p, &a->initiator.address, sizeof(a->initiator.address));
	add(p, &a->responder.address, sizeof(a->responder.address));
	add(p, p->qpn, sizeof(p->qpn));
	add(p, a->hello, a->hello_len);
}

void auth_prove(const struct auth *a, const uint8_t key[MAC_KEY_LEN], uint8_t ret[MAC_LEN])
{
	struct parts p = {.n = 0};

	add_connection(&p, a, "rdma-pingmesh initiator");
	mac_make(key, p.part, p.n, ret);
}

bool auth_accept(struct auth *a, const uint8_t key[MAC_KEY_LEN], const uint8_t proof[MAC_LEN])
{
	uint8_t right[MAC_LEN];

	auth_prove(a, key, right);
	if (!mac_equal(right, proof))
		return false;
	memcpy(a->proof, right, MAC_LEN);
	return true;
}

static void mac_of_reply(const struct auth *a, const uint8_t key[MAC_KEY_LEN], const uint8_t *reply,
			 size_t len, uint8_t ret[MAC_LEN])
{
	struct parts p = {.n = 0};

	add_connection(&p, a, "rdma-pingmesh responder");
	add(&p, a->proof, sizeof(a->proof));
	add(&p, reply, len);
	mac_make(key, p.part, p.n, ret);
}

void auth_seal(const struct auth *a, const uint8_t key[MAC_KEY_LEN], uint8_t *reply, size_t len)
{
	mac_of_reply(a, key, reply, len - MAC_LEN, reply + len - MAC_LEN);
}

bool auth_sealed(const struct auth *a, const uint8_t key[MAC_KEY_LEN], const uint8_t *reply,
		 size_t len)
{
	uint8_t right[MAC_LEN];

	if (!wire_ends_with_mac(reply, len))
		return false;
	mac_of_reply(a, key, reply, len - MAC_LEN, right);
	return mac_equal(right, reply + len - MAC_LEN);
}
