/* What a peer sends: the private data of requests and rejects, and in-band messages. What is taken
 * is written again and means the same. */
#include <string.h>

#include "fuzz.h"
#include "probes/wire.h"

static void request(const uint8_t *data, size_t size)
{
	struct wire_request r, again;
	uint8_t out[WIRE_REQUEST_LEN];

	if (wire_get_request(data, size, &r) != WIRE_OK)
		return;
	wire_put_request(&r, out);
	must_hold(wire_get_request(out, sizeof(out), &again) == WIRE_OK);
	must_hold(again.instance == r.instance && again.host_hash == r.host_hash &&
		  again.rail_hash == r.rail_hash && again.peer_rail_hash == r.peer_rail_hash &&
		  again.class_hash == r.class_hash && again.path == r.path);
}

static void header(const uint8_t *data, size_t size)
{
	struct wire_header h, again;
	uint8_t out[WIRE_HEADER_LEN];

	if (!wire_get_header(data, size, &h))
		return;
	must_hold(h.length == size && size >= WIRE_HEADER_LEN);
	wire_put_header(&h, out);
	/* A length above the header's own needs its bytes. */
	if (size == WIRE_HEADER_LEN)
		must_hold(wire_get_header(out, sizeof(out), &again) && again.seq == h.seq);
}

static void named(const char *name)
{
	must_hold(memchr(name, '\0', FACT_NAME));
}

static void hello(const uint8_t *data, size_t size)
{
	struct wire_hello h, again;
	uint8_t out[WIRE_MAX_HELLO];
	size_t n;

	if (!wire_get_hello(data, size, &h))
		return;
	must_hold(h.version >= WIRE_VERSION_MIN);
	named(h.host);
	named(h.rail);
	named(h.peer_rail);
	named(h.class_name);
	/* A name may be left out, but not be there and empty. */
	if (!h.rail[0])
		return;
	n = wire_put_hello(WIRE_HELLO, &h, out, sizeof(out));
	if (!n)
		return;
	must_hold(n <= sizeof(out) && wire_get_hello(out, n, &again));
	must_hold(!strcmp(again.host, h.host) && again.pattern.len == h.pattern.len &&
		  again.rx_size == h.rx_size);
	/* An empty region is none. */
	must_hold(!h.pattern.len || again.pattern.addr == h.pattern.addr);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	request(data, size);
	header(data, size);
	hello(data, size);
	wire_reject_text(wire_get_reject(data, size));
	wire_check_pattern(data, size < WIRE_PATTERN_LEN ? size : WIRE_PATTERN_LEN);
	return 0;
}
