#include "support.h"

#include <endian.h>

#include "chance.h"
#include "probes/wire.h"

/* Numbers of the wire, written down here a second time: they are a promise to older daemons. */
enum { INSTANCE = 1, RX_SIZE, KEEPALIVE, HOST, RAIL, PEER_RAIL, CLASS, PATTERN };

/* A message in a block of exactly its length, so that a byte too far is seen by ASan. */
struct exact {
	uint8_t *data;
	size_t len;
};

static struct exact exact(const void *data, size_t len)
{
	struct exact e = {malloc(len ? len : 1), len};

	assert_non_null(e.data);
	memcpy(e.data, data, len);
	return e;
}

static bool hello_from(const void *data, size_t len, struct wire_hello *ret)
{
	struct exact e = exact(data, len);
	bool ok = wire_get_hello(e.data, e.len, ret);

	free(e.data);
	return ok;
}

static struct wire_hello full_hello(void)
{
	struct wire_hello h = {
		.instance = 0x1122334455667788ULL,
		.rx_size = 512,
		.keepalive_ms = 5000,
		.host = "host-1.example",
		.rail = "mlx5_0/2",
		.peer_rail = "rxe0",
		.class_name = "storage",
		.pattern = {0xdeadbeef00112233ULL, 0x44556677, 4096},
		.scratch = {0xdeadbeef00112230ULL, 0x44556678, 8192},
		.scratch_atomics = true,
	};

	return h;
}

/* --- request --- */

static void test_request_survives_the_wire(void **state)
{
	struct wire_request in = {
		.instance = UINT64_MAX,
		.generation = 7,
		.host_hash = 0x0102030405060708ULL,
		.rail_hash = 2,
		.peer_rail_hash = 3,
		.class_hash = 0xfffffffe,
		.path = 0xabcd,
	};
	uint8_t data[WIRE_REQUEST_LEN];
	struct wire_request out;

	(void)state;
	wire_put_request(&in, data);
	assert_int_equal(wire_get_request(data, sizeof(data), &out), WIRE_OK);
	in.version = WIRE_VERSION;
	assert_memory_equal(&out.instance, &in.instance, sizeof(in.instance));
	assert_int_equal(out.generation, in.generation);
	assert_int_equal(out.host_hash, in.host_hash);
	assert_int_equal(out.rail_hash, in.rail_hash);
	assert_int_equal(out.peer_rail_hash, in.peer_rail_hash);
	assert_int_equal(out.class_hash, in.class_hash);
	assert_int_equal(out.path, in.path);
	assert_int_equal(out.version, WIRE_VERSION);
}

static void test_request_layout_is_fixed(void **state)
{
	struct wire_request in = {.instance = 0x0102030405060708ULL, .generation = 0x0a0b0c0d};
	static const uint8_t begin[] = {'R', 'P', 'M', '1', WIRE_VERSION, 48,  0,   0,	1, 2, 3, 4,
					5,   6,	  7,   8,   0xa,	  0xb, 0xc, 0xd};
	uint8_t data[WIRE_REQUEST_LEN];

	(void)state;
	memset(data, 0xee, sizeof(data));
	wire_put_request(&in, data);
	assert_memory_equal(data, begin, sizeof(begin));
	for (size_t i = 48; i < sizeof(data); i++)
		assert_int_equal(data[i], 0);
}

static void test_request_is_refused_at_every_shorter_length(void **state)
{
	uint8_t data[WIRE_REQUEST_LEN];
	struct wire_request out;

	(void)state;
	wire_put_request(&(struct wire_request){.instance = 1}, data);
	for (size_t len = 0; len < sizeof(data); len++) {
		struct exact e = exact(data, len);

		assert_int_equal(wire_get_request(e.data, e.len, &out), WIRE_MALFORMED);
		free(e.data);
	}
	assert_int_equal(wire_get_request(NULL, 0, &out), WIRE_MALFORMED);
}

static void test_foreign_request_is_malformed_and_old_one_too_old(void **state)
{
	uint8_t data[WIRE_REQUEST_LEN];
	struct wire_request out;

	(void)state;
	wire_put_request(&(struct wire_request){.instance = 1}, data);
	data[4] = WIRE_VERSION_MIN - 1;
	assert_int_equal(wire_get_request(data, sizeof(data), &out), WIRE_TOO_OLD);
	data[4] = 200; /* newer: it talks to us in a form that we know */
	assert_int_equal(wire_get_request(data, sizeof(data), &out), WIRE_OK);
	assert_int_equal(out.version, 200);
	data[5] = 47;
	assert_int_equal(wire_get_request(data, sizeof(data), &out), WIRE_MALFORMED);
	data[5] = WIRE_REQUEST_LEN + 1;
	assert_int_equal(wire_get_request(data, sizeof(data), &out), WIRE_MALFORMED);
	memset(data, 0, sizeof(data)); /* rping and friends send none */
	assert_int_equal(wire_get_request(data, sizeof(data), &out), WIRE_MALFORMED);
}

/* --- reject --- */

static void test_every_reject_survives_the_wire_and_has_words(void **state)
{
	uint8_t data[148] = {0}; /* what rdma_cm hands over, whatever was sent */

	(void)state;
	for (int r = WIRE_REJECT_MALFORMED; r <= WIRE_REJECT_LEAVING; r++) {
		wire_put_reject((enum wire_reject)r, data);
		assert_int_equal(wire_get_reject(data, sizeof(data)), r);
		for (int other = WIRE_REJECT_NONE; other < r; other++)
			assert_string_not_equal(wire_reject_text((enum wire_reject)r),
						wire_reject_text((enum wire_reject)other));
	}
}

/* Without a secret it is the request of old, byte by byte; with one it is longer. */
static void test_request_tells_of_a_secret(void **state)
{
	struct wire_request in = {.instance = 1, .has_secret = true}, out;
	uint8_t data[WIRE_REQUEST_LEN];

	(void)state;
	wire_put_request(&in, data);
	assert_int_equal(wire_get_request(data, sizeof(data), &out), WIRE_OK);
	assert_true(out.has_secret);
	data[5] = 48; /* as an older daemon counts: what follows is not there */
	assert_int_equal(wire_get_request(data, sizeof(data), &out), WIRE_OK);
	assert_false(out.has_secret);
	data[5] = 47;
	assert_int_equal(wire_get_request(data, sizeof(data), &out), WIRE_MALFORMED);
	in.has_secret = false;
	wire_put_request(&in, data);
	assert_int_equal(data[5], 48);
	assert_int_equal(data[48], 0);
}

static void test_foreign_reject_is_none(void **state)
{
	uint8_t data[WIRE_REJECT_LEN];

	(void)state;
	assert_int_equal(wire_get_reject(NULL, 0), WIRE_REJECT_NONE);
	wire_put_reject(WIRE_REJECT_LEAVING, data);
	for (size_t len = 0; len < sizeof(data); len++) {
		struct exact e = exact(data, len);

		assert_int_equal(wire_get_reject(e.data, e.len), WIRE_REJECT_NONE);
		free(e.data);
	}
	data[5] = WIRE_REJECT_SECRET_DIFFERS + 1;
	assert_int_equal(wire_get_reject(data, sizeof(data)), WIRE_REJECT_NONE);
	data[5] = 255;
	assert_int_equal(wire_get_reject(data, sizeof(data)), WIRE_REJECT_NONE);
	data[5] = WIRE_REJECT_LEAVING;
	data[0] ^= 1;
	assert_int_equal(wire_get_reject(data, sizeof(data)), WIRE_REJECT_NONE);
}

/* --- header --- */

static void test_header_survives_the_wire(void **state)
{
	struct wire_header in = {WIRE_REPLY, 300, 0x123456789abcdef0ULL, UINT64_MAX}, out;
	uint8_t data[300] = {0};

	(void)state;
	wire_put_header(&in, data);
	assert_true(wire_get_header(data, sizeof(data), &out));
	assert_int_equal(out.type, WIRE_REPLY);
	assert_int_equal(out.length, 300);
	assert_int_equal(out.seq, in.seq);
	assert_true(out.hold_ns == UINT64_MAX);
}

static void test_header_must_agree_with_what_was_received(void **state)
{
	uint8_t data[64] = {0};
	struct wire_header out;

	(void)state;
	wire_put_header(&(struct wire_header){WIRE_PROBE, sizeof(data), 1, 0}, data);
	for (size_t len = 0; len < sizeof(data); len++) {
		struct exact e = exact(data, len);

		assert_false(wire_get_header(e.data, e.len, &out));
		free(e.data);
	}
	assert_true(wire_get_header(data, sizeof(data), &out));
	data[5] = 0;
	assert_false(wire_get_header(data, sizeof(data), &out));
	data[5] = WIRE_TYPE_LAST + 1;
	assert_false(wire_get_header(data, sizeof(data), &out));
	data[5] = WIRE_PROBE;
	data[4] = WIRE_VERSION_MIN - 1;
	assert_false(wire_get_header(data, sizeof(data), &out));
	data[4] = WIRE_VERSION;
	data[0] = 0;
	assert_false(wire_get_header(data, sizeof(data), &out));
}

/* --- hello --- */

static void assert_same_hello(const struct wire_hello *a, const struct wire_hello *b)
{
	assert_true(a->instance == b->instance);
	assert_int_equal(a->rx_size, b->rx_size);
	assert_int_equal(a->keepalive_ms, b->keepalive_ms);
	assert_string_equal(a->host, b->host);
	assert_string_equal(a->rail, b->rail);
	assert_string_equal(a->peer_rail, b->peer_rail);
	assert_string_equal(a->class_name, b->class_name);
	assert_true(a->pattern.addr == b->pattern.addr);
	assert_int_equal(a->pattern.rkey, b->pattern.rkey);
	assert_int_equal(a->pattern.len, b->pattern.len);
	assert_true(a->scratch.addr == b->scratch.addr);
	assert_int_equal(a->scratch.rkey, b->scratch.rkey);
	assert_int_equal(a->scratch.len, b->scratch.len);
	assert_int_equal(a->scratch_atomics, b->scratch_atomics);
}

static void test_hello_survives_the_wire(void **state)
{
	struct wire_hello in = full_hello(), out;
	uint8_t data[WIRE_MAX_HELLO];
	size_t len;

	(void)state;
	len = wire_put_hello(WIRE_HELLO, &in, data, sizeof(data));
	assert_true(len > WIRE_HEADER_LEN);
	assert_true(hello_from(data, len, &out));
	assert_int_equal(out.version, WIRE_VERSION);
	assert_same_hello(&out, &in);
	len = wire_put_hello(WIRE_HELLO_REPLY, &in, data, sizeof(data));
	assert_true(hello_from(data, len, &out));
}

static bool carried(const struct wire_hello *in, struct wire_hello *out)
{
	uint8_t data[WIRE_MAX_HELLO];

	return hello_from(data, wire_put_hello(WIRE_HELLO, in, data, sizeof(data)), out);
}

static void test_hello_of_an_older_peer_has_no_scratch(void **state)
{
	struct wire_hello in = full_hello(), out;

	(void)state;
	in.scratch = (struct wire_region){0};
	in.scratch_atomics = false;
	assert_true(carried(&in, &out));
	assert_same_hello(&out, &in);
}

static void test_scratch_that_atomics_would_break_on_is_refused(void **state)
{
	struct wire_hello in = full_hello(), out;

	(void)state;
	in.scratch.addr += 4;
	assert_false(carried(&in, &out));
	in.scratch_atomics = false;
	assert_true(carried(&in, &out));
}

static void test_region_beyond_the_end_of_memory_is_refused(void **state)
{
	struct wire_hello in = full_hello(), out;

	(void)state;
	in.pattern.addr = UINT64_MAX - 4095;
	assert_false(carried(&in, &out));
	in = full_hello();
	in.scratch.addr = UINT64_MAX - 7;
	assert_false(carried(&in, &out));
}

static void test_sessions_write_to_different_places_of_the_scratch(void **state)
{
	unsigned places[WIRE_SCRATCH_LEN / 64] = {0}, used = 0;

	(void)state;
	for (uint64_t hash = 0; hash < 100000; hash += 97) {
		uint32_t at = wire_scratch_offset(hash, WIRE_SCRATCH_LEN, 64);

		assert_int_equal(at % 8, 0);
		assert_true(at + 64 <= WIRE_SCRATCH_LEN);
		used += !places[at / 64]++;
	}
	assert_true(used > 500);
	for (uint32_t size = 8; size <= WIRE_SCRATCH_LEN; size += 8)
		assert_true(wire_scratch_offset(UINT64_MAX, WIRE_SCRATCH_LEN, size) + size <=
			    WIRE_SCRATCH_LEN);
	assert_int_equal(wire_scratch_offset(12345, 8, 8), 0);
	assert_int_equal(wire_scratch_offset(12345, 0, 8), 0);
}

static void test_hello_of_a_peer_without_rail_names_or_pattern(void **state)
{
	struct wire_hello in = full_hello(), out;
	uint8_t data[WIRE_MAX_HELLO];

	(void)state;
	in.peer_rail[0] = in.class_name[0] = '\0';
	in.pattern.len = 0;
	in.pattern.addr = in.pattern.rkey = 0;
	assert_true(hello_from(data, wire_put_hello(WIRE_HELLO, &in, data, sizeof(data)), &out));
	assert_same_hello(&out, &in);
}

static void test_longest_names_fit_the_longest_hello(void **state)
{
	struct wire_hello in = full_hello(), out;
	uint8_t data[WIRE_MAX_HELLO];
	size_t len;

	(void)state;
	memset(in.host, 'h', FACT_NAME - 1);
	memset(in.rail, 'r', FACT_NAME - 1);
	memset(in.peer_rail, 'p', FACT_NAME - 1);
	memset(in.class_name, 'c', FACT_NAME - 1);
	in.host[FACT_NAME - 1] = in.rail[FACT_NAME - 1] = '\0';
	in.peer_rail[FACT_NAME - 1] = in.class_name[FACT_NAME - 1] = '\0';
	len = wire_put_hello(WIRE_HELLO, &in, data, sizeof(data));
	assert_true(len > 0);
	assert_true(hello_from(data, len, &out));
	assert_same_hello(&out, &in);
}

static void test_hello_that_does_not_fit_is_not_written(void **state)
{
	struct wire_hello in = full_hello();
	uint8_t data[WIRE_MAX_HELLO];
	size_t len = wire_put_hello(WIRE_HELLO, &in, data, sizeof(data));

	(void)state;
	for (size_t cap = 0; cap < len; cap++) {
		struct exact e = exact(data, cap);

		assert_int_equal(wire_put_hello(WIRE_HELLO, &in, e.data, cap), 0);
		free(e.data);
	}
}

static void test_hello_is_refused_at_every_shorter_length(void **state)
{
	struct wire_hello in = full_hello(), out;
	uint8_t data[WIRE_MAX_HELLO], cut[WIRE_MAX_HELLO];
	size_t len = wire_put_hello(WIRE_HELLO, &in, data, sizeof(data));
	unsigned accepted = 0;

	(void)state;
	for (size_t n = 0; n < len; n++) {
		assert_false(hello_from(data, n, &out));
		/* The same with a header that tells the truth: whole TLVs may be missing, halves
		 * may not. What is accepted still has what a session needs. */
		memcpy(cut, data, n);
		if (n >= WIRE_HEADER_LEN)
			wire_put_header(&(struct wire_header){WIRE_HELLO, (uint16_t)n, 0, 0}, cut);
		if (hello_from(cut, n, &out)) {
			assert_true(out.instance && out.host[0] && out.rx_size >= WIRE_MIN_PROBE);
			accepted++;
		}
	}
	assert_int_equal(accepted, 5); /* after host, rail, peer rail, class, pattern */
}

/* One hello of raw TLVs behind a valid header. */
struct raw {
	uint8_t data[600];
	size_t len;
};

static void raw_begin(struct raw *r)
{
	r->len = WIRE_HEADER_LEN;
}

static void raw_add(struct raw *r, uint8_t type, const void *value, uint8_t len)
{
	r->data[r->len++] = type;
	r->data[r->len++] = len;
	memcpy(r->data + r->len, value, len);
	r->len += len;
}

/* What every hello must have, except the one of the type left out. */
static void raw_needed(struct raw *r, uint8_t but)
{
	uint64_t instance = htobe64(5);
	uint32_t rx = htobe32(512);

	if (but != INSTANCE)
		raw_add(r, INSTANCE, &instance, 8);
	if (but != RX_SIZE)
		raw_add(r, RX_SIZE, &rx, 4);
	if (but != HOST)
		raw_add(r, HOST, "h", 1);
}

static bool raw_accepted(struct raw *r)
{
	struct wire_hello out;

	wire_put_header(&(struct wire_header){WIRE_HELLO, (uint16_t)r->len, 0, 0}, r->data);
	return hello_from(r->data, r->len, &out);
}

static bool name_accepted(uint8_t type, const void *name, uint8_t len)
{
	struct raw r;

	raw_begin(&r);
	raw_needed(&r, type);
	raw_add(&r, type, name, len);
	return raw_accepted(&r);
}

static void test_hello_needs_instance_size_and_host(void **state)
{
	static const uint8_t needed[] = {INSTANCE, RX_SIZE, HOST};
	struct raw r;

	(void)state;
	raw_begin(&r);
	raw_needed(&r, 0);
	assert_true(raw_accepted(&r));
	for (size_t i = 0; i < COUNT(needed); i++) {
		raw_begin(&r);
		raw_needed(&r, needed[i]);
		assert_false(raw_accepted(&r));
	}
}

static void test_hello_with_zero_instance_or_tiny_buffers_is_refused(void **state)
{
	uint64_t zero = 0;
	uint32_t tiny = htobe32(WIRE_MIN_PROBE - 1);
	struct raw r;

	(void)state;
	raw_begin(&r);
	raw_needed(&r, INSTANCE);
	raw_add(&r, INSTANCE, &zero, 8);
	assert_false(raw_accepted(&r));
	raw_begin(&r);
	raw_needed(&r, RX_SIZE);
	raw_add(&r, RX_SIZE, &tiny, 4);
	assert_false(raw_accepted(&r));
}

static void test_unknown_tlvs_are_skipped(void **state)
{
	uint8_t junk[255];
	struct raw r;

	(void)state;
	memset(junk, 0xff, sizeof(junk));
	raw_begin(&r);
	raw_add(&r, 200, junk, 255);
	raw_add(&r, 0, junk, 0);
	raw_needed(&r, 0);
	raw_add(&r, 99, junk, 17);
	assert_true(raw_accepted(&r));
}

static void test_names_with_bad_bytes_are_refused(void **state)
{
	char name[FACT_NAME] = "abcdef";

	(void)state;
	for (unsigned byte = 0; byte < 256; byte++) {
		bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
			      (byte >= '0' && byte <= '9') || (byte && strchr("._-:%", (int)byte));

		name[3] = (char)byte;
		assert_int_equal(name_accepted(HOST, name, 6), letter);
		assert_int_equal(name_accepted(CLASS, name, 6), letter);
		assert_int_equal(name_accepted(RAIL, name, 6), letter || byte == '/');
		assert_int_equal(name_accepted(PEER_RAIL, name, 6), letter || byte == '/');
	}
}

static void test_names_too_long_or_empty_are_refused(void **state)
{
	char name[256];

	(void)state;
	memset(name, 'x', sizeof(name));
	for (unsigned len = 1; len < 256; len++) {
		assert_int_equal(name_accepted(HOST, name, (uint8_t)len), len < FACT_NAME);
		assert_int_equal(name_accepted(RAIL, name, (uint8_t)len), len < FACT_NAME);
	}
	assert_false(name_accepted(HOST, name, 0));
	assert_false(name_accepted(RAIL, name, 0));
	assert_true(name_accepted(PEER_RAIL, name, 0));
	assert_true(name_accepted(CLASS, name, 0));
	assert_false(name_accepted(RAIL, "a/b/c", 5));
	assert_false(name_accepted(RAIL, "/", 1));
}

static void test_numbers_of_wrong_length_are_refused(void **state)
{
	uint8_t bytes[64];

	(void)state;
	memset(bytes, 1, sizeof(bytes));
	for (unsigned len = 0; len < 64; len++) {
		assert_int_equal(name_accepted(INSTANCE, bytes, (uint8_t)len), len == 8);
		assert_int_equal(name_accepted(RX_SIZE, bytes, (uint8_t)len), len == 4);
		assert_int_equal(name_accepted(KEEPALIVE, bytes, (uint8_t)len), len == 4);
		assert_int_equal(name_accepted(PATTERN, bytes, (uint8_t)len), len >= 16);
	}
}

static void test_other_messages_are_no_hello(void **state)
{
	struct wire_hello in = full_hello(), out;
	uint8_t data[WIRE_MAX_HELLO];
	size_t len;

	(void)state;
	for (int type = WIRE_PROBE; type <= WIRE_TYPE_LAST; type++) {
		len = wire_put_hello((enum wire_type)type, &in, data, sizeof(data));
		assert_false(hello_from(data, len, &out));
	}
}

/* Any byte may be anything: no crash, and what comes through is fit for a label. */
static void test_damaged_hellos_never_yield_unfit_names(void **state)
{
	struct wire_hello in = full_hello(), out;
	uint8_t data[WIRE_MAX_HELLO], copy[WIRE_MAX_HELLO];
	size_t len = wire_put_hello(WIRE_HELLO, &in, data, sizeof(data));
	struct chance chance = {3};

	(void)state;
	for (unsigned i = 0; i < 50000; i++) {
		memcpy(copy, data, len);
		for (uint32_t n = 1 + chance_below(&chance, 4); n; n--)
			copy[chance_below(&chance, (uint32_t)len)] = (uint8_t)chance_u64(&chance);
		if (!hello_from(copy, len, &out))
			continue;
		assert_true(out.instance && out.rx_size >= WIRE_MIN_PROBE);
		assert_in_range(strlen(out.host), 1, FACT_NAME - 1);
		for (const char *c = out.host; *c; c++)
			assert_true(*c > ' ' && *c < 127 && *c != '"' && *c != '\\');
	}
}

/* --- pattern --- */

static void test_pattern_is_recognised_from_its_beginning(void **state)
{
	uint8_t page[WIRE_PATTERN_LEN];

	(void)state;
	wire_fill_pattern(page, sizeof(page));
	for (size_t len = 1; len <= sizeof(page); len *= 2)
		assert_true(wire_check_pattern(page, len));
}

static void test_shifted_pattern_is_corrupt(void **state)
{
	uint8_t page[2 * WIRE_PATTERN_LEN];

	(void)state;
	wire_fill_pattern(page, sizeof(page));
	/* Up to two MTUs, for every smallest probe. */
	for (size_t shift = 1; shift <= WIRE_PATTERN_LEN; shift++)
		assert_false(wire_check_pattern(page + shift, 64));
}

static void test_one_wrong_bit_is_corrupt(void **state)
{
	uint8_t page[1024];

	(void)state;
	wire_fill_pattern(page, sizeof(page));
	for (size_t i = 0; i < sizeof(page); i++) {
		page[i] ^= (uint8_t)(1 << i % 8);
		assert_false(wire_check_pattern(page, sizeof(page)));
		page[i] ^= (uint8_t)(1 << i % 8);
	}
	assert_true(wire_check_pattern(page, sizeof(page)));
}

static void test_one_wrong_byte_is_corrupt_in_a_probe_of_any_size(void **state)
{
	uint8_t page[300];

	(void)state;
	for (size_t len = 1; len <= sizeof(page); len++) {
		wire_fill_pattern(page, len);
		assert_true(wire_check_pattern(page, len));
		for (size_t i = len > 40 ? len - 40 : 0; i < len; i++) {
			page[i]++;
			assert_false(wire_check_pattern(page, len));
			page[i]--;
		}
	}
}

static void test_stuck_bytes_are_corrupt(void **state)
{
	uint8_t page[64];

	(void)state;
	for (int byte = 0; byte < 256; byte++) {
		memset(page, byte, sizeof(page));
		assert_false(wire_check_pattern(page, sizeof(page)));
	}
}

static void test_a_cache_line_in_the_wrong_place_is_corrupt(void **state)
{
	uint8_t page[WIRE_PATTERN_LEN], copy[WIRE_PATTERN_LEN];

	(void)state;
	wire_fill_pattern(page, sizeof(page));
	for (size_t i = 0; i < sizeof(page); i += 64) {
		memcpy(copy, page, sizeof(page));
		memcpy(copy + i, page + (i + 64) % sizeof(page), 64);
		assert_false(wire_check_pattern(copy, sizeof(copy)));
	}
}

/* --- UDP source port --- */

static void test_udp_source_ports_seen_on_a_real_fabric(void **state)
{
	(void)state;
	assert_int_equal(wire_udp_source_port(20001, 7471), 54024);
	assert_int_equal(wire_udp_source_port(20002, 7471), 54123);
	assert_int_equal(wire_udp_source_port(20003, 7471), 54090);
}

static void test_udp_source_port_is_always_in_the_rocev2_range(void **state)
{
	struct chance chance = {4};

	(void)state;
	for (unsigned i = 0; i < 100000; i++) {
		uint16_t src = (uint16_t)(1 + chance_below(&chance, 65535));

		assert_true(wire_udp_source_port(src, 10480) >= 0xc000);
	}
	assert_int_equal(wire_udp_source_port(0, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request_survives_the_wire),
		cmocka_unit_test(test_request_layout_is_fixed),
		cmocka_unit_test(test_request_is_refused_at_every_shorter_length),
		cmocka_unit_test(test_foreign_request_is_malformed_and_old_one_too_old),
		cmocka_unit_test(test_every_reject_survives_the_wire_and_has_words),
		cmocka_unit_test(test_request_tells_of_a_secret),
		cmocka_unit_test(test_foreign_reject_is_none),
		cmocka_unit_test(test_header_survives_the_wire),
		cmocka_unit_test(test_header_must_agree_with_what_was_received),
		cmocka_unit_test(test_hello_survives_the_wire),
		cmocka_unit_test(test_hello_of_an_older_peer_has_no_scratch),
		cmocka_unit_test(test_scratch_that_atomics_would_break_on_is_refused),
		cmocka_unit_test(test_region_beyond_the_end_of_memory_is_refused),
		cmocka_unit_test(test_sessions_write_to_different_places_of_the_scratch),
		cmocka_unit_test(test_hello_of_a_peer_without_rail_names_or_pattern),
		cmocka_unit_test(test_longest_names_fit_the_longest_hello),
		cmocka_unit_test(test_hello_that_does_not_fit_is_not_written),
		cmocka_unit_test(test_hello_is_refused_at_every_shorter_length),
		cmocka_unit_test(test_hello_needs_instance_size_and_host),
		cmocka_unit_test(test_hello_with_zero_instance_or_tiny_buffers_is_refused),
		cmocka_unit_test(test_unknown_tlvs_are_skipped),
		cmocka_unit_test(test_names_with_bad_bytes_are_refused),
		cmocka_unit_test(test_names_too_long_or_empty_are_refused),
		cmocka_unit_test(test_numbers_of_wrong_length_are_refused),
		cmocka_unit_test(test_other_messages_are_no_hello),
		cmocka_unit_test(test_damaged_hellos_never_yield_unfit_names),
		cmocka_unit_test(test_pattern_is_recognised_from_its_beginning),
		cmocka_unit_test(test_shifted_pattern_is_corrupt),
		cmocka_unit_test(test_one_wrong_bit_is_corrupt),
		cmocka_unit_test(test_one_wrong_byte_is_corrupt_in_a_probe_of_any_size),
		cmocka_unit_test(test_stuck_bytes_are_corrupt),
		cmocka_unit_test(test_a_cache_line_in_the_wrong_place_is_corrupt),
		cmocka_unit_test(test_udp_source_ports_seen_on_a_real_fabric),
		cmocka_unit_test(test_udp_source_port_is_always_in_the_rocev2_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
