#include "health/rates.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/names.h"
#include "probes/counter_delta.h"

#define SLOTS 72
#define SPACING_NS (9 * NSEC_PER_SEC / 2) /* rounds of 5 s are never exactly so: below that */
#define SERIES_MAX ((RATES_PORT_SERIES + RATES_LEG_SERIES) * PORT_MAX)
#define SOURCE_OWN COUNTER_SOURCE_COUNT
/* A counter that is not there any more for this long has been forgotten, rounds or time. */
#define MISSED_ROUNDS 3
#define FORGET_NS (15 * 60 * NSEC_PER_SEC)

const uint64_t rate_window_ns[RATE_WINDOWS] = {
	10 * NSEC_PER_SEC,
	60 * NSEC_PER_SEC,
	300 * NSEC_PER_SEC,
};

const char *rate_window_name(enum rate_window w)
{
	switch (w) {
	case RATE_10S:
		return "10s";
	case RATE_1M:
		return "1m";
	case RATE_5M:
		return "5m";
	}
	return "";
}

/* A counter as it grew: sums since it was first seen, and what they were in each slot. */
struct series {
	char name[FACT_NAME];
	const struct counter_row *row; /* NULL: of our own probes */
	struct series *next;	       /* of the same key; not of those that own it */
	uint16_t key;
	int8_t priority;
	uint8_t port, source;
	bool saturated;
	uint64_t value, seen_ns, seen_round;
	uint64_t since_slot;	  /* slots before this number are older than the series */
	uint64_t growth, grew_ns; /* growth may pass its end: only differences are looked at */
	uint64_t covered_ns;
	uint64_t growth_at[SLOTS];
	uint32_t covered_ms_at[SLOTS]; /* of the low bits: differences are of minutes */
};

struct rates {
	uint64_t last_ns, rounds;
	uint64_t n_slots; /* ever filled; slot k is at k % SLOTS */
	uint64_t slot_ns[SLOTS];
	size_t n, cap;
	struct series **series;
	struct series *of_key[RATE_KEYS];
	size_t next; /* where the counter is that comes next, if they come in the order of before */
	size_t of_port[PORT_MAX + 1], of_legs[PORT_MAX + 1];
};

struct rates *rates_new(void)
{
	return calloc(1, sizeof(struct rates));
}

void rates_free(struct rates *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++)
		free(r->series[i]);
	free(r->series);
	free(r);
}

uint64_t rates_last_ns(const struct rates *r)
{
	return r->last_ns;
}

static bool in_range(enum signal s, enum signal first, enum signal last)
{
	return s >= first && s <= last;
}

/* Known by another signal as well as by this one, and asked for by nobody. */
static bool is_detail(enum signal s)
{
	switch ((unsigned)s) {
	case SIGNAL_PFC_RX_TRANSITIONS:
	case SIGNAL_PFC_TX_TRANSITIONS:
	case SIGNAL_PFC_RX_XON:
	case SIGNAL_PFC_TX_XON:
	case SIGNAL_PAUSE_RX_TRANSITIONS:
	case SIGNAL_PAUSE_TX_TRANSITIONS:
	case SIGNAL_PAUSE_RX_XON:
	case SIGNAL_PAUSE_TX_XON:
	case SIGNAL_TRAFFIC_RX_PRIO_PACKETS:
	case SIGNAL_TRAFFIC_TX_PRIO_PACKETS:
	case SIGNAL_TRAFFIC_RX_UNICAST:
	case SIGNAL_TRAFFIC_TX_UNICAST:
	case SIGNAL_TRAFFIC_RX_MULTICAST:
	case SIGNAL_TRAFFIC_TX_MULTICAST:
		return true;
	}
	return false;
}

bool rates_wants(enum signal s)
{
	if (is_detail(s))
		return false;
	return in_range(s, SIGNAL_LOSS_ACK_TIMEOUT, SIGNAL_DROP_VL15) || s == SIGNAL_ERR_RX_ICRC ||
	       s == SIGNAL_ERR_CQ_OVERFLOW || s == SIGNAL_ERR_FATAL ||
	       in_range(s, SIGNAL_LINK_BUFFER_OVERRUN, SIGNAL_HOST_PCI_TX_ERRORS) ||
	       in_range(s, SIGNAL_TRAFFIC_RX, SIGNAL_TRAFFIC_TX_UNICAST);
}

/* --- series --- */

static bool is(const struct series *s, unsigned port, unsigned source, const char *name)
{
	return s->port == port && s->source == source && !strcmp(s->name, name);
}

static struct series *find(struct rates *r, unsigned port, unsigned source, const char *name)
{
	for (size_t k = 0; k < r->n; k++) {
		size_t i = (r->next + k) % r->n;

		if (!is(r->series[i], port, source, name))
			continue;
		r->next = i + 1;
		return r->series[i];
	}
	return NULL;
}

static bool grow(struct rates *r)
{
	size_t cap = r->cap ? 2 * r->cap : 64;
	struct series **bigger;

	if (r->n < r->cap)
		return true;
	bigger = reallocarray(r->series, cap, sizeof(*bigger));
	if (!bigger)
		return false;
	r->series = bigger;
	r->cap = cap;
	return true;
}

/* How many counters there are of a port itself, or of its legs. */
static size_t *count_of(struct rates *r, unsigned port, unsigned source)
{
	return source == SOURCE_LEG ? &r->of_legs[port] : &r->of_port[port];
}

static bool has_room(struct rates *r, unsigned port, unsigned source)
{
	size_t max = source == SOURCE_LEG ? RATES_LEG_SERIES : RATES_PORT_SERIES;

	return port <= PORT_MAX && *count_of(r, port, source) < max && r->n < SERIES_MAX && grow(r);
}

static struct series *add_series(struct rates *r, unsigned port, unsigned source, const char *name,
				 unsigned key)
{
	struct series *s;

	if (!has_room(r, port, source))
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->port = (uint8_t)port;
	s->source = (uint8_t)source;
	name_copy(s->name, sizeof(s->name), name);
	s->since_slot = r->n_slots;
	s->key = (uint16_t)key;
	s->next = r->of_key[key];
	r->of_key[key] = s;
	++*count_of(r, port, source);
	r->series[r->n++] = s;
	return s;
}

static bool is_old(const struct rates *r, const struct series *s)
{
	return s->seen_round + MISSED_ROUNDS < r->rounds && r->last_ns - s->seen_ns > FORGET_NS;
}

static void unlink_old(struct rates *r)
{
	for (unsigned key = 0; key < RATE_KEYS; key++) {
		struct series **at = &r->of_key[key];

		while (*at) {
			if (is_old(r, *at))
				*at = (*at)->next;
			else
				at = &(*at)->next;
		}
	}
}

static void forget_old(struct rates *r)
{
	size_t kept = 0;
	bool any = false;

	for (size_t i = 0; i < r->n; i++)
		any |= is_old(r, r->series[i]);
	if (!any)
		return;
	unlink_old(r);
	for (size_t i = 0; i < r->n; i++) {
		struct series *s = r->series[i];

		if (is_old(r, s)) {
			--*count_of(r, s->port, s->source);
			free(s);
		} else {
			r->series[kept++] = s;
		}
	}
	r->n = kept;
}

/* --- steps --- */

/* A gauge is told as its value over time, so that its growth over a window is its mean. */
static uint64_t gauge_growth(uint64_t value, uint64_t ns)
{
	uint64_t ms = ns / NSEC_PER_MSEC;

	return ms && value > UINT64_MAX / ms ? UINT64_MAX : value * ms;
}

static void step(struct series *s, uint64_t value, uint64_t now_ns)
{
	uint64_t passed = now_ns - s->seen_ns;
	struct counter_delta d;

	if (s->row && s->row->kind == KIND_GAUGE) {
		s->growth += gauge_growth(value, passed);
		s->covered_ns += passed;
		return;
	}
	d = counter_delta(s->row ? s->row->width : WIDTH_64, s->value, value);
	s->saturated = d.step == STEP_SATURATED;
	if (d.step == STEP_RESET)
		return;
	if (d.growth)
		s->grew_ns = now_ns;
	s->growth += d.growth;
	s->covered_ns += passed;
}

static bool there(const struct rates *r, const struct series *s)
{
	return s->seen_round + MISSED_ROUNDS >= r->rounds;
}

/* What a NIC that fell off the bus answers: as if it had not been read. */
static bool is_all_ones(const struct series *s, uint64_t value)
{
	switch (s->row ? s->row->width : WIDTH_64) {
	case WIDTH_32:
		return value == UINT32_MAX;
	case WIDTH_EITHER:
		return value == UINT32_MAX || value == UINT64_MAX;
	case WIDTH_64:
		return value == UINT64_MAX;
	case WIDTH_STICKS_4:
	case WIDTH_STICKS_8:
	case WIDTH_STICKS_16:
	case WIDTH_STICKS_32:
	case WIDTH_64_OR_STICKS_32:
		return false;
	}
	return false;
}

static void take(struct rates *r, struct series *s, uint64_t value, uint64_t now_ns)
{
	bool returned = s->source == SOURCE_LEG && !there(r, s);

	s->seen_round = r->rounds;
	if (is_all_ones(s, value))
		return;
	if (s->seen_ns && !returned)
		step(s, value, now_ns);
	s->value = value;
	s->seen_ns = now_ns;
}

static void take_value(struct rates *r, const struct counter_value *v, uint64_t now_ns)
{
	const struct counter_row *row;
	struct series *s;

	if (v->source >= COUNTER_SOURCE_COUNT)
		return;
	row = counter_row_of(v->source, v->name);
	if (!rates_wants(row->signal) || row->kind == KIND_SETTING)
		return;
	s = find(r, v->port, v->source, v->name);
	if (!s) {
		s = add_series(r, v->port, v->source, v->name, row->signal);
		if (!s)
			return;
		s->row = row;
		s->priority =
			(int8_t)counter_row_priority(row, counter_plain_name(v->source, v->name));
	}
	take(r, s, v->value, now_ns);
}

static void take_own(struct rates *r, unsigned port, unsigned key, const char *name, uint64_t total,
		     uint64_t now_ns)
{
	struct series *s = find(r, port, SOURCE_OWN, name);

	if (!s) {
		s = add_series(r, port, SOURCE_OWN, name, key);
		if (!s)
			return;
		s->priority = -1;
	}
	take(r, s, total, now_ns);
}

static void fill_slot(struct rates *r, uint64_t now_ns)
{
	size_t at = r->n_slots % SLOTS;

	if (r->n_slots && now_ns - r->slot_ns[(r->n_slots - 1) % SLOTS] < SPACING_NS)
		return;
	r->slot_ns[at] = now_ns;
	for (size_t i = 0; i < r->n; i++) {
		struct series *s = r->series[i];

		s->growth_at[at] = s->growth;
		s->covered_ms_at[at] = (uint32_t)(s->covered_ns / NSEC_PER_MSEC);
	}
	r->n_slots++;
}

void rates_add(struct rates *r, const struct rates_round *round)
{
	uint64_t now = round->mono_ns;

	if (now <= r->last_ns)
		return;
	r->rounds++;
	for (size_t i = 0; i < round->n_own; i++) {
		const struct rate_own_total *own = &round->own[i];

		take_own(r, own->port, RATE_OWN_RETRY_EXCEEDED, "probes_retry_exceeded",
			 own->retry_exceeded, now);
		take_own(r, own->port, RATE_OWN_TROUBLED, "probes_troubled", own->troubled, now);
	}
	for (size_t i = 0; i < round->n_values; i++)
		take_value(r, &round->values[i], now);
	r->last_ns = now;
	fill_slot(r, now);
	forget_old(r);
}

/* --- windows --- */

/* The latest slot that makes the window whole, or the first that there is. */
static uint64_t first_slot(const struct rates *r, uint64_t window_ns)
{
	uint64_t oldest = r->n_slots > SLOTS ? r->n_slots - SLOTS : 0, k = r->n_slots;

	while (k > oldest) {
		k--;
		if (r->last_ns - r->slot_ns[k % SLOTS] >= window_ns)
			return k;
	}
	return oldest;
}

static double unit_of(const struct series *s)
{
	if (!s->row)
		return 1;
	if (s->row->kind == KIND_GAUGE)
		return 1e-3; /* milliseconds */
	return s->row->unit == UNIT_WORDS ? 4 : 1;
}

static bool window_of(const struct rates *r, const struct series *s, uint64_t window_ns,
		      struct rate *ret)
{
	uint64_t k = first_slot(r, window_ns), growth, covered_ms;
	bool whole = k >= s->since_slot;

	growth = s->growth - (whole ? s->growth_at[k % SLOTS] : 0);
	covered_ms = s->covered_ns / NSEC_PER_MSEC;
	if (whole)
		covered_ms = (uint32_t)((uint32_t)covered_ms - s->covered_ms_at[k % SLOTS]);
	if (!covered_ms)
		return false;
	*ret = (struct rate){
		.name = s->name,
		.growth = (double)growth * unit_of(s),
		.covered_ns = covered_ms * NSEC_PER_MSEC,
		.last_value = s->value,
		.grown_ago_ns = s->grew_ns ? r->last_ns - s->grew_ns : UINT64_MAX,
		.saturated = s->saturated,
	};
	ret->per_second = ret->growth * 1e3 / (double)covered_ms;
	return true;
}

static unsigned rank_of(const struct series *s)
{
	switch (s->source) {
	case SOURCE_HW_COUNTERS:
		return 0;
	case SOURCE_ETHTOOL:
		return 1;
	case SOURCE_LEG:
		return 2;
	case SOURCE_COUNTERS_EXT:
		return 3;
	case SOURCE_COUNTERS:
		return 4;
	case SOURCE_OPTIONAL:
		return 5;
	}
	return 6;
}

static bool goes_before(const struct series *a, const struct series *b)
{
	if (rank_of(a) != rank_of(b))
		return rank_of(a) < rank_of(b);
	return strcmp(a->name, b->name) < 0;
}

/* Different things that are told by one signal, and not one thing told twice. */
static bool adds_to(const struct series *first, const struct series *s)
{
	if (first == s || first->source != s->source)
		return first == s;
	if (first->row == s->row)
		return true;
	switch (s->key) {
	case SIGNAL_DROP_RX_LIMIT:
	case SIGNAL_DROP_TX_LIMIT:
	case SIGNAL_LINK_MODULE_ERR:
	case SIGNAL_LOSS_IMPLIED_NAK:
		return true;
	}
	return false;
}

/* Both of the same leg, or both of the port itself. */
static bool same_leg(const struct series *a, const struct series *b)
{
	size_t len = strcspn(a->name, "/");

	if (a->source != SOURCE_LEG || b->source != SOURCE_LEG)
		return a->source != SOURCE_LEG && b->source != SOURCE_LEG;
	return strncmp(a->name, b->name, len + 1) == 0;
}

/* of: of that one's leg; NULL: of any. */
static const struct series *preferred(const struct rates *r, unsigned port, unsigned key,
				      int priority, const struct series *of)
{
	const struct series *best = NULL;

	for (const struct series *s = r->of_key[key]; s; s = s->next) {
		if (s->port != port || s->priority != priority || !there(r, s))
			continue;
		if ((!best || goes_before(s, best)) && (!of || same_leg(s, of)))
			best = s;
	}
	return best;
}

/* Whether s is part of what is told where first goes before all others. */
static bool is_part(const struct rates *r, const struct series *first, const struct series *s)
{
	if (s->port != first->port || s->priority != first->priority || !there(r, s))
		return false;
	if (first->source == SOURCE_LEG && s->source == SOURCE_LEG)
		first = preferred(r, s->port, s->key, s->priority, s);
	return s == first || (same_leg(first, s) && adds_to(first, s));
}

/* Two legs that each stood still for half of the time are no port that stood still for all of it.
 */
static bool is_share(const struct series *s)
{
	if (s->source != SOURCE_LEG)
		return false;
	switch (s->row->unit) {
	case UNIT_TICKS:
	case UNIT_SECONDS:
	case UNIT_MILLISECONDS:
	case UNIT_MICROSECONDS:
	case UNIT_PERCENT:
		return true;
	case UNIT_NONE:
	case UNIT_EVENTS:
	case UNIT_PACKETS:
	case UNIT_FRAMES:
	case UNIT_BYTES:
	case UNIT_WORDS:
	case UNIT_BITS:
	case UNIT_SYMBOLS:
	case UNIT_BLOCKS:
	case UNIT_REQUESTS:
	case UNIT_OBJECTS:
		break;
	}
	return false;
}

/* The name is that of the one that grew most. */
static void add_up(struct rate *sum, const struct rate *one, double *most)
{
	if (one->growth > *most) {
		*most = one->growth;
		sum->name = one->name;
	}
	sum->growth += one->growth;
	sum->per_second += one->per_second;
	sum->saturated |= one->saturated;
	if (one->grown_ago_ns < sum->grown_ago_ns)
		sum->grown_ago_ns = one->grown_ago_ns;
	if (one->covered_ns > sum->covered_ns)
		sum->covered_ns = one->covered_ns;
}

bool rates_get(const struct rates *r, unsigned port, unsigned key, int priority,
	       enum rate_window window, struct rate *ret)
{
	const struct series *first = preferred(r, port, key, priority, NULL);
	uint64_t ns = rate_window_ns[window];
	struct rate sum, one;
	double most = 0;
	bool any;

	if (!first)
		return false;
	any = window_of(r, first, ns, &sum);
	if (any)
		most = sum.growth;
	for (const struct series *s = r->of_key[key]; s; s = s->next) {
		if (s == first || !is_part(r, first, s) || !window_of(r, s, ns, &one))
			continue;
		if (!any || (is_share(s) && one.per_second > sum.per_second)) {
			sum = one;
			most = one.growth;
		} else if (!is_share(s)) {
			add_up(&sum, &one, &most);
		}
		any = true;
	}
	if (any)
		*ret = sum;
	return any;
}

bool rates_has(const struct rates *r, unsigned port, unsigned key, int priority)
{
	return preferred(r, port, key, priority, NULL) != NULL;
}

unsigned rates_level(const struct rates *r, unsigned port, bool lone, unsigned key, int priority)
{
	return lone && !rates_has(r, port, key, priority) ? 0 : port;
}

unsigned rates_priorities(const struct rates *r, unsigned port, unsigned key)
{
	unsigned bits = 0;

	for (const struct series *s = r->of_key[key]; s; s = s->next) {
		if (s->port == port && s->priority >= 0 && s->priority < RATES_PRIORITIES &&
		    there(r, s))
			bits |= 1u << s->priority;
	}
	return bits;
}
