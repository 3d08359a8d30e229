/* Packets between main and its own processes: whoever wrote them, their reader checks them. */
#include <string.h>

#include "daemon/resolver_wire.h"
#include "fuzz.h"
#include "probes/wish.h"

static void wish(const uint8_t *data, size_t size)
{
	struct wish w;

	memset(&w, 0xa5, sizeof(w));
	memcpy(&w, data, size < sizeof(w) ? size : sizeof(w));
	if (!wish_check(&w, size))
		return;
	must_hold(size == wish_length(w.type));
	if (w.type == WISH_CONFIG)
		must_hold(w.config.n_rails <= RAIL_MAX && w.config.n_classes <= CLASS_MAX &&
			  memchr(w.config.host, '\0', sizeof(w.config.host)));
	if (w.type == WISH_ACCEPT)
		must_hold(w.accept.n <= ACCEPT_CHUNK);
}

static void fact(const uint8_t *data, size_t size)
{
	struct fact f;

	memset(&f, 0xa5, sizeof(f));
	memcpy(&f, data, size < sizeof(f) ? size : sizeof(f));
	if (!fact_check(&f, size))
		return;
	must_hold(f.rail < RAIL_MAX && memchr(f.text, '\0', sizeof(f.text)));
	if (f.type == FACT_SESSION)
		must_hold(session_state_name((enum session_state)f.number));
}

static void answer(const uint8_t *data, size_t size)
{
	struct resolver_answer a;

	memset(&a, 0xa5, sizeof(a));
	memcpy(&a, data, size < sizeof(a) ? size : sizeof(a));
	if (resolver_answer_check(&a, size))
		must_hold(a.n <= RESOLVER_ADDRESSES && memchr(a.error, '\0', sizeof(a.error)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	wish(data, size);
	fact(data, size);
	answer(data, size);
	return 0;
}
