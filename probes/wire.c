#include "probes/wire.h"

#include <endian.h>
#include <string.h>

#include "core/names.h"

#define REQUEST_MAGIC 0x52504d31u /* "RPM1" */
#define MESSAGE_MAGIC 0x52504d32u
#define REJECT_MAGIC 0x52504d33u

enum tlv {
	TLV_INSTANCE = 1,
	TLV_RX_SIZE,
	TLV_KEEPALIVE,
	TLV_HOST,
	TLV_RAIL,
	TLV_PEER_RAIL,
	TLV_CLASS,
	TLV_PATTERN,
	TLV_SCRATCH,
	TLV_NONCE,
	TLV_MAC, /* the last, whenever it is there */
};

static void put16(uint8_t *p, uint16_t v)
{
	v = htobe16(v);
	memcpy(p, &v, sizeof(v));
}

static void put32(uint8_t *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, sizeof(v));
}

static void put64(uint8_t *p, uint64_t v)
{
	v = htobe64(v);
	memcpy(p, &v, sizeof(v));
}

static uint16_t get16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return be16toh(v);
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

static uint64_t get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return be64toh(v);
}

/* Layout: magic 4, version 1, length 1, path 2, instance 8, generation 4, host 8, rail 8,
 * peer rail 8, class 4, flags 1; zero to 56. The flags came later: zero in a shorter one. */
#define REQUEST_MIN 48
#define REQUEST_USED 49
#define REQUEST_SECRET 1u

void wire_put_request(const struct wire_request *r, uint8_t out[WIRE_REQUEST_LEN])
{
	memset(out, 0, WIRE_REQUEST_LEN);
	put32(out, REQUEST_MAGIC);
	out[4] = WIRE_VERSION;
	out[5] = r->has_secret ? REQUEST_USED : REQUEST_MIN;
	put16(out + 6, r->path);
	put64(out + 8, r->instance);
	put32(out + 16, r->generation);
	put64(out + 20, r->host_hash);
	put64(out + 28, r->rail_hash);
	put64(out + 36, r->peer_rail_hash);
	put32(out + 44, r->class_hash);
	out[48] = r->has_secret ? REQUEST_SECRET : 0;
}

enum wire_result wire_get_request(const uint8_t *data, size_t len, struct wire_request *ret)
{
	if (!data || len < WIRE_REQUEST_LEN || get32(data) != REQUEST_MAGIC)
		return WIRE_MALFORMED;
	if (data[4] < WIRE_VERSION_MIN)
		return WIRE_TOO_OLD;
	if (data[5] < REQUEST_MIN || data[5] > WIRE_REQUEST_LEN)
		return WIRE_MALFORMED;
	*ret = (struct wire_request){
		.version = data[4],
		.path = get16(data + 6),
		.instance = get64(data + 8),
		.generation = get32(data + 16),
		.host_hash = get64(data + 20),
		.rail_hash = get64(data + 28),
		.peer_rail_hash = get64(data + 36),
		.class_hash = get32(data + 44),
		.has_secret = data[5] >= REQUEST_USED && (data[48] & REQUEST_SECRET),
	};
	return WIRE_OK;
}

void wire_put_reject(enum wire_reject reason, uint8_t out[WIRE_REJECT_LEN])
{
	put32(out, REJECT_MAGIC);
	out[4] = WIRE_VERSION;
	out[5] = (uint8_t)reason;
	out[6] = out[7] = 0;
}

enum wire_reject wire_get_reject(const uint8_t *data, size_t len)
{
	if (!data || len < WIRE_REJECT_LEN || get32(data) != REJECT_MAGIC)
		return WIRE_REJECT_NONE;
	if (data[5] > WIRE_REJECT_SECRET_DIFFERS)
		return WIRE_REJECT_NONE;
	return (enum wire_reject)data[5];
}

const char *wire_reject_text(enum wire_reject reason)
{
	switch (reason) {
	case WIRE_REJECT_NONE:
		return "connection refused";
	case WIRE_REJECT_MALFORMED:
		return "peer did not understand the request";
	case WIRE_REJECT_VERSION:
		return "peer speaks another protocol version";
	case WIRE_REJECT_NOT_LISTED:
		return "peer does not list this address";
	case WIRE_REJECT_NO_RESOURCES:
		return "peer has no resources left";
	case WIRE_REJECT_LEAVING:
		return "peer is stopping";
	case WIRE_REJECT_SECRET_WANTED:
		return SAID_SECRET_WANTED;
	case WIRE_REJECT_NO_SECRET:
		return SAID_NO_SECRET;
	case WIRE_REJECT_SECRET_DIFFERS:
		return SAID_SECRET_DIFFERS;
	}
	return "connection refused";
}

void wire_put_header(const struct wire_header *h, uint8_t *out)
{
	put32(out, MESSAGE_MAGIC);
	out[4] = WIRE_VERSION;
	out[5] = h->type;
	put16(out + 6, h->length);
	put64(out + 8, h->seq);
	put64(out + 16, h->hold_ns);
}

bool wire_get_header(const uint8_t *data, size_t len, struct wire_header *ret)
{
	if (len < WIRE_HEADER_LEN || get32(data) != MESSAGE_MAGIC)
		return false;
	if (data[4] < WIRE_VERSION_MIN)
		return false;
	if (data[5] < WIRE_HELLO || data[5] > WIRE_TYPE_LAST)
		return false;
	if (get16(data + 6) != len)
		return false;
	ret->type = data[5];
	ret->length = get16(data + 6);
	ret->seq = get64(data + 8);
	ret->hold_ns = get64(data + 16);
	return true;
}

struct writer {
	uint8_t *out;
	size_t len, cap;
	bool failed;
};

static void put_tlv(struct writer *w, enum tlv type, const void *data, size_t len)
{
	if (w->failed || len > UINT8_MAX || w->len + 2 + len > w->cap) {
		w->failed = true;
		return;
	}
	w->out[w->len] = (uint8_t)type;
	w->out[w->len + 1] = (uint8_t)len;
	memcpy(w->out + w->len + 2, data, len);
	w->len += 2 + len;
}

static void put_tlv32(struct writer *w, enum tlv type, uint32_t v)
{
	uint8_t b[4];

	put32(b, v);
	put_tlv(w, type, b, sizeof(b));
}

static void put_tlv64(struct writer *w, enum tlv type, uint64_t v)
{
	uint8_t b[8];

	put64(b, v);
	put_tlv(w, type, b, sizeof(b));
}

#define REGION_LEN 16
#define SCRATCH_LEN 17 /* region, flags */
#define SCRATCH_ATOMICS 1u

static void put_region(struct writer *w, enum tlv type, const struct wire_region *r, size_t len,
		       uint8_t flags)
{
	uint8_t b[SCRATCH_LEN];

	put64(b, r->addr);
	put32(b + 8, r->rkey);
	put32(b + 12, r->len);
	b[REGION_LEN] = flags;
	put_tlv(w, type, b, len);
}

size_t wire_put_hello(enum wire_type type, const struct wire_hello *h, uint8_t *out, size_t cap)
{
	struct writer w = {.out = out, .len = WIRE_HEADER_LEN, .cap = cap};

	if (cap < WIRE_HEADER_LEN)
		return 0;
	put_tlv64(&w, TLV_INSTANCE, h->instance);
	put_tlv32(&w, TLV_RX_SIZE, h->rx_size);
	put_tlv32(&w, TLV_KEEPALIVE, h->keepalive_ms);
	put_tlv(&w, TLV_HOST, h->host, strlen(h->host));
	put_tlv(&w, TLV_RAIL, h->rail, strlen(h->rail));
	put_tlv(&w, TLV_PEER_RAIL, h->peer_rail, strlen(h->peer_rail));
	put_tlv(&w, TLV_CLASS, h->class_name, strlen(h->class_name));
	if (h->pattern.len)
		put_region(&w, TLV_PATTERN, &h->pattern, REGION_LEN, 0);
	if (h->scratch.len)
		put_region(&w, TLV_SCRATCH, &h->scratch, SCRATCH_LEN,
			   h->scratch_atomics ? SCRATCH_ATOMICS : 0);
	if (h->has_nonce)
		put_tlv(&w, TLV_NONCE, h->nonce, sizeof(h->nonce));
	if (h->has_mac)
		put_tlv(&w, TLV_MAC, (uint8_t[WIRE_MAC_LEN]){0}, WIRE_MAC_LEN);
	if (w.failed)
		return 0;
	wire_put_header(&(struct wire_header){.type = (uint8_t)type, .length = (uint16_t)w.len},
			out);
	return w.len;
}

/* Names end up in labels and logs: anything but a valid name makes the HELLO malformed. */
static bool get_name(char dst[FACT_NAME], const uint8_t *data, size_t len, bool may_be_empty,
		     bool (*valid)(const char *))
{
	if (len >= FACT_NAME || memchr(data, 0, len))
		return false;
	memcpy(dst, data, len);
	dst[len] = '\0';
	return len ? valid(dst) : may_be_empty;
}

static bool get_region(struct wire_region *r, const uint8_t *data, size_t len)
{
	if (len < REGION_LEN)
		return false;
	r->addr = get64(data);
	r->rkey = get32(data + 8);
	r->len = get32(data + 12);
	return r->len <= UINT64_MAX - r->addr;
}

static bool get_scratch(struct wire_hello *h, const uint8_t *data, size_t len)
{
	if (len < SCRATCH_LEN || !get_region(&h->scratch, data, len))
		return false;
	h->scratch_atomics = data[REGION_LEN] & SCRATCH_ATOMICS;
	/* Atomics on other addresses end in an error that takes the QP with it. */
	return h->scratch.addr % 8 == 0 || !h->scratch_atomics;
}

static bool get_tlv(struct wire_hello *h, uint8_t type, const uint8_t *data, size_t len)
{
	switch (type) {
	case TLV_INSTANCE:
		if (len != 8)
			return false;
		h->instance = get64(data);
		return true;
	case TLV_RX_SIZE:
		if (len != 4)
			return false;
		h->rx_size = get32(data);
		return true;
	case TLV_KEEPALIVE:
		if (len != 4)
			return false;
		h->keepalive_ms = get32(data);
		return true;
	case TLV_HOST:
		return get_name(h->host, data, len, false, name_valid);
	case TLV_RAIL:
		return get_name(h->rail, data, len, false, rail_name_valid);
	case TLV_PEER_RAIL:
		return get_name(h->peer_rail, data, len, true, rail_name_valid);
	case TLV_CLASS:
		return get_name(h->class_name, data, len, true, name_valid);
	case TLV_PATTERN:
		return get_region(&h->pattern, data, len);
	case TLV_SCRATCH:
		return get_scratch(h, data, len);
	case TLV_NONCE:
		if (len != WIRE_NONCE_LEN)
			return false;
		memcpy(h->nonce, data, len);
		return h->has_nonce = true;
	case TLV_MAC:
		return h->has_mac = len == WIRE_MAC_LEN;
	default: /* from a newer version */
		return true;
	}
}

bool wire_get_hello(const uint8_t *data, size_t len, struct wire_hello *ret)
{
	struct wire_hello h = {0};
	struct wire_header header;
	size_t at = WIRE_HEADER_LEN;

	if (!wire_get_header(data, len, &header))
		return false;
	if (header.type != WIRE_HELLO && header.type != WIRE_HELLO_REPLY)
		return false;
	h.version = data[4];
	while (at < len) {
		if (len - at < 2 || len - at - 2 < data[at + 1])
			return false;
		if (!get_tlv(&h, data[at], data + at + 2, data[at + 1]))
			return false;
		at += 2 + data[at + 1];
	}
	if (!h.instance || !h.host[0] || h.rx_size < WIRE_MIN_PROBE)
		return false;
	*ret = h;
	return true;
}

#define PATTERN_PAGE 4096

bool wire_ends_with_mac(const uint8_t *data, size_t len)
{
	return len >= WIRE_HEADER_LEN + 2 + WIRE_MAC_LEN &&
	       data[len - WIRE_MAC_LEN - 2] == TLV_MAC &&
	       data[len - WIRE_MAC_LEN - 1] == WIRE_MAC_LEN;
}

size_t wire_put_auth(enum wire_type type, const uint8_t *body, size_t size, uint8_t *out)
{
	wire_put_header(&(struct wire_header){.type = (uint8_t)type,
					      .length = (uint16_t)(WIRE_HEADER_LEN + size)},
			out);
	memcpy(out + WIRE_HEADER_LEN, body, size);
	return WIRE_HEADER_LEN + size;
}

/* Not a constant byte and no period that divides a cache line or an MTU, so that shifted, stuck or
 * repeated data is seen. Beyond the first page (all that the first version had) a hash, for the
 * simple formula comes round again. */
static uint8_t pattern_byte(size_t i)
{
	uint32_t mixed = (uint32_t)i * 0x9e3779b1u;

	if (i < PATTERN_PAGE)
		return (uint8_t)((i * 167u + 13u) ^ (i >> 7));
	return (uint8_t)(mixed >> 24 ^ mixed >> 13);
}

void wire_fill_pattern(uint8_t *page, size_t len)
{
	for (size_t i = 0; i < len; i++)
		page[i] = pattern_byte(i);
}

#define PATTERN_BLOCK 128 /* within one, i >> 7 stays what it is */
#define PATTERN_LANES 16  /* bytes that the compiler can compare in one go */

static bool check_bytes(const uint8_t *data, size_t at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (data[i] != pattern_byte(at + i))
			return false;
	return true;
}

/* pattern_byte() of many at once: a READ of 64 bytes spends most of its time here otherwise. */
static bool check_block(const uint8_t *data, size_t at, size_t len)
{
	uint8_t high = (uint8_t)(at >> 7), wrong[PATTERN_LANES] = {0}, any = 0;
	size_t done = 0;

	for (; done + PATTERN_LANES <= len; done += PATTERN_LANES) {
		uint8_t low = (uint8_t)((at + done) * 167u + 13u);

		for (unsigned i = 0; i < PATTERN_LANES; i++)
			wrong[i] |= data[done + i] ^ (uint8_t)(low + i * 167u) ^ high;
	}
	for (unsigned i = 0; i < PATTERN_LANES; i++)
		any |= wrong[i];
	return !any && check_bytes(data + done, at + done, len - done);
}

bool wire_check_pattern(const uint8_t *data, size_t len)
{
	size_t at = 0;

	for (; at < len && at < PATTERN_PAGE; at += PATTERN_BLOCK) {
		size_t left = len - at;

		if (!check_block(data + at, at, left < PATTERN_BLOCK ? left : PATTERN_BLOCK))
			return false;
	}
	return at >= len || check_bytes(data + at, at, len - at);
}

struct wire_damage wire_find_damage(const uint8_t *data, size_t len)
{
	struct wire_damage d = {.len = (uint32_t)len, .untouched = len > 0};

	for (size_t i = 0; i < len; i++) {
		d.untouched = d.untouched && data[i] == WIRE_SINK_POISON;
		if (data[i] == pattern_byte(i))
			continue;
		if (!d.wrong++) {
			d.at = (uint32_t)i;
			d.expected = pattern_byte(i);
			d.found = data[i];
		}
	}
	return d;
}

#define SCRATCH_STEP 64 /* a cache line */

uint32_t wire_scratch_offset(uint64_t hash, uint32_t region_len, uint32_t size)
{
	if (region_len <= size)
		return 0;
	return (uint32_t)(hash % ((region_len - size) / SCRATCH_STEP + 1)) * SCRATCH_STEP;
}

uint16_t wire_udp_source_port(uint16_t src_port, uint16_t dst_port)
{
	uint32_t fl = (src_port * 31u + dst_port) & 0xfffffu;

	if (!fl)
		return 0; /* the kernel then folds both QPNs; nobody uses port 0 */
	return (uint16_t)(0xc000u | ((fl & 0x3fffu) ^ (fl >> 14)));
}
