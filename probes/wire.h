/* What travels between two daemons: the private data of the connection request, and the in-band
 * messages. Every byte from the wire is checked here; nothing else parses them. All integers are
 * big-endian. Versions N and N-1 talk to each other. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "probes/facts.h"

#define WIRE_VERSION 1
#define WIRE_VERSION_MIN 1 /* oldest that is understood */

/* --- connection request --- */
#define WIRE_REQUEST_LEN 56 /* what rdma_cm leaves of a REQ for RDMA_PS_TCP */

struct wire_request {
	uint64_t instance;   /* random id of the initiator's main process */
	uint32_t generation; /* of its worker */
	uint64_t host_hash, rail_hash, peer_rail_hash;
	uint32_t class_hash; /* low half */
	uint16_t path;	     /* 0 until there are several */
	uint8_t version;     /* of the initiator */
	bool has_secret;     /* it will prove, and wants proof: see probes/auth.h */
};

enum wire_result {
	WIRE_OK,
	WIRE_MALFORMED, /* not ours: magic, length */
	WIRE_TOO_OLD,	/* a version below WIRE_VERSION_MIN */
};

void wire_put_request(const struct wire_request *r, uint8_t out[WIRE_REQUEST_LEN]);
enum wire_result wire_get_request(const uint8_t *data, size_t len, struct wire_request *ret);

/* Reject reasons, private data of rdma_reject. */
enum wire_reject {
	WIRE_REJECT_NONE, /* no or foreign private data */
	WIRE_REJECT_MALFORMED,
	WIRE_REJECT_VERSION,
	WIRE_REJECT_NOT_LISTED,
	WIRE_REJECT_NO_RESOURCES,
	WIRE_REJECT_LEAVING,
	WIRE_REJECT_SECRET_WANTED,  /* the initiator has none */
	WIRE_REJECT_NO_SECRET,	    /* it has one, and we have none */
	WIRE_REJECT_SECRET_DIFFERS, /* it did not prove ours */
};
#define WIRE_REJECT_LEN 8
void wire_put_reject(enum wire_reject reason, uint8_t out[WIRE_REJECT_LEN]);
enum wire_reject wire_get_reject(const uint8_t *data, size_t len);
const char *wire_reject_text(enum wire_reject reason);

/* --- in-band messages --- */
enum wire_type {
	WIRE_HELLO = 1, /* initiator, first message */
	WIRE_HELLO_REPLY,
	WIRE_PROBE,
	WIRE_REPLY,
	WIRE_GOODBYE, /* a planned stop: what follows is not a fault */
	/* No probe: the initiator is there. The responder sends it back, with its seq. Only to a
	 * responder whose HELLO_REPLY states a keep-alive: an older one does not know it. */
	WIRE_KEEPALIVE,
	WIRE_CHALLENGE, /* to a HELLO with a nonce: a nonce */
	WIRE_PROOF,	/* to a CHALLENGE: a MAC */
	WIRE_REFUSAL,	/* to a PROOF: seq is the enum wire_reject, and we close */
};
#define WIRE_TYPE_LAST WIRE_REFUSAL

#define WIRE_HEADER_LEN 24
#define WIRE_MIN_PROBE 32  /* smallest send_size */
#define WIRE_MAX_HELLO 512 /* bytes of a HELLO with its header */
#define WIRE_NONCE_LEN 16
#define WIRE_MAC_LEN 32
#define WIRE_MAX_AUTH (WIRE_HEADER_LEN + WIRE_MAC_LEN) /* bytes of a CHALLENGE or PROOF */

struct wire_header {
	uint8_t type;	  /* enum wire_type */
	uint16_t length;  /* of the whole message */
	uint64_t seq;	  /* PROBE, REPLY, KEEPALIVE: a generation of the initiator */
	uint64_t hold_ns; /* REPLY: the responder's own processing time */
};

/* out must hold WIRE_HEADER_LEN bytes. */
void wire_put_header(const struct wire_header *h, uint8_t *out);
/* len is what the receive completion said; the header's own length must agree. */
bool wire_get_header(const uint8_t *data, size_t len, struct wire_header *ret);

/* Memory that the peer may reach by itself. */
struct wire_region {
	uint64_t addr;
	uint32_t rkey;
	uint32_t len;
};

struct wire_hello {
	uint8_t version;
	uint64_t instance;
	uint32_t rx_size; /* largest message that the sender of this HELLO can receive */
	/* HELLO: we send something at least so often; HELLO_REPLY: heard, and we end the connection
	 * after three times that without a word. 0: none */
	uint32_t keepalive_ms;
	char host[FACT_NAME], rail[FACT_NAME], peer_rail[FACT_NAME], class_name[FACT_NAME];
	struct wire_region pattern; /* to be READ; len 0: none */
	struct wire_region scratch; /* to be written, its content means nothing; len 0: none */
	bool scratch_atomics;	    /* and for atomics; its address is a multiple of 8 then */
	bool has_nonce;		    /* HELLO: proof is wanted and offered */
	uint8_t nonce[WIRE_NONCE_LEN];
	bool has_mac; /* HELLO_REPLY: it ends with a MAC; put: with room for one */
};

/* Writes header and TLVs; the length, or 0 when cap is too small. */
size_t wire_put_hello(enum wire_type type, const struct wire_hello *h, uint8_t *out, size_t cap);
/* Unknown TLVs are skipped; names must be valid; false when malformed. */
bool wire_get_hello(const uint8_t *data, size_t len, struct wire_hello *ret);
/* The last thing in the message is a MAC, of WIRE_MAC_LEN bytes. */
bool wire_ends_with_mac(const uint8_t *data, size_t len);
/* CHALLENGE or PROOF: a header and size bytes; out holds WIRE_MAX_AUTH. Returns the length. */
size_t wire_put_auth(enum wire_type type, const uint8_t *body, size_t size, uint8_t *out);

/* --- the pattern page that READ probes check --- */
#define WIRE_PATTERN_LEN 65536
void wire_fill_pattern(uint8_t *page, size_t len);
bool wire_check_pattern(const uint8_t *data, size_t len);
/* What a READ's memory is filled with before it: bytes that did not come keep it. */
#define WIRE_SINK_POISON 0xa5
struct wire_damage {
	uint32_t len, wrong; /* bytes read; of them not the pattern's */
	uint32_t at;	     /* the first of those */
	uint8_t expected, found;
	bool untouched; /* nothing came at all */
};
/* How data differs from the pattern: for what wire_check_pattern() found wrong, and not cheap. */
struct wire_damage wire_find_damage(const uint8_t *data, size_t len);

/* --- the scratch region that WRITE and atomic probes go to --- */
#define WIRE_SCRATCH_LEN WIRE_PATTERN_LEN
/* Where in a region of region_len bytes a session writes its size bytes: spread by the session's
 * hash, so that a NIC need not do all peers' atomics on one word. A multiple of 8; 0 where there
 * is no choice. */
uint32_t wire_scratch_offset(uint64_t hash, uint32_t region_len, uint32_t size);

/* UDP source port of a RoCEv2 connection by rdma_cm over IPv4 (or IPv6 with flowinfo 0), from the
 * ports of the connection: core/cma.c cma_get_roce_udp_flow_label(), rdma_flow_label_to_udp_sport()
 * in include/rdma/ib_verbs.h. */
uint16_t wire_udp_source_port(uint16_t src_port, uint16_t dst_port);
