/* The proof that the other side of a connection knows the shared secret, before it learns where
 * memory is that it may reach. Pure.
 *
 *   initiator                          responder
 *   HELLO, with a nonce          ->
 *                                <-    CHALLENGE: a nonce of its own
 *   PROOF: a MAC                 ->    is it right?
 *                                <-    HELLO_REPLY: the regions, and a MAC over it
 *
 * Both nonces, both addresses and queue pair numbers and the HELLO with names and instance are in
 * each MAC, so neither serves for another connection; who is who is in it too, so none can be sent
 * back to its maker. The reply's MAC covers the whole reply. */
#pragma once
#include <netinet/in.h>
#include "core/mac.h"
#include "probes/wire.h"

/* One side of the connection. */
struct auth_end {
	struct in6_addr address; /* IPv4 as v4-mapped */
	uint32_t qpn;
};

struct auth {
	struct auth_end initiator, responder;
	uint8_t initiator_nonce[WIRE_NONCE_LEN], responder_nonce[WIRE_NONCE_LEN];
	uint8_t hello[WIRE_MAX_HELLO]; /* the initiator's, as sent */
	uint32_t hello_len;
	uint8_t proof[MAC_LEN]; /* made, or found right */
};

/* The initiator's proof. */
void auth_prove(const struct auth *a, const uint8_t key[MAC_KEY_LEN], uint8_t ret[MAC_LEN]);
/* Keeps it in a->proof when it is right. */
bool auth_accept(struct auth *a, const uint8_t key[MAC_KEY_LEN], const uint8_t proof[MAC_LEN]);
/* Puts the MAC into a reply that ends with room for one (wire_put_hello() with has_mac). */
void auth_seal(const struct auth *a, const uint8_t key[MAC_KEY_LEN], uint8_t *reply, size_t len);
/* The reply as received: its MAC stands where it belongs and is right. */
bool auth_sealed(const struct auth *a, const uint8_t key[MAC_KEY_LEN], const uint8_t *reply,
		 size_t len);
