/* Rates against an exact model: random ramps, wraps, resets, saturation, counters that leave and
 * come back, gaps and rounds of the past. A failure tells its seed and round. */
#include "chance.h"
#include "support.h"

#include "core/clock.h"
#include "health/rates.h"

#define SEC NSEC_PER_SEC
#define SEEDS 80
#define ROUNDS 300
#define COUNTERS 6
/* As the header of rates has them: windows begin at instants that are this far apart. */
#define SPACING (9 * SEC / 2)
#define INSTANTS 72
#define MISSED 3
#define FORGET (900 * SEC)

struct subject {
	const char *name;
	enum counter_source source;
	uint8_t port;
	enum signal signal;
	int priority;
	unsigned bits; /* wraps there; 0: it does not */
	uint64_t end;  /* sticks there; 0: it does not */
	bool gauge;
	uint64_t step; /* most that it gains in a round */
	double unit;
};

static const struct subject subjects[COUNTERS] = {
	{"out_of_sequence", SOURCE_HW_COUNTERS, 1, SIGNAL_LOSS_RX_OUT_OF_SEQ, -1, 32, 0, false,
	 1000, 1},
	{"out_of_sequence", SOURCE_HW_COUNTERS, 2, SIGNAL_LOSS_RX_OUT_OF_SEQ, -1, 32, 0, false,
	 (1ULL << 31) - 1, 1},
	{"port_rcv_data", SOURCE_COUNTERS, 1, SIGNAL_TRAFFIC_RX, -1, 0, 0, false, 1000000000000, 4},
	{"link_downed", SOURCE_COUNTERS, 1, SIGNAL_LINK_DOWN, -1, 0, UINT8_MAX, false, 3, 1},
	{"outbound_pci_stalled_rd", SOURCE_ETHTOOL, 1, SIGNAL_HOST_PCI_STALL_RD_PCT, -1, 0, 0, true,
	 100, 1e-3},
	{"rx_prio3_pause_duration", SOURCE_ETHTOOL, 1, SIGNAL_PFC_RX_US, 3, 0, 0, false, 12000000,
	 1},
};

/* What is true of a counter. */
struct truth {
	uint64_t shown; /* by its file */
	unsigned away;	/* rounds for which it is not there */
	bool was_reset; /* since it was last seen */
	bool known;	/* it was seen, and is not forgotten */
	uint64_t seen, seen_shown, seen_round;
	size_t first_instant;
	uint64_t growth, covered;
	uint64_t growth_at[ROUNDS], covered_at[ROUNDS];
};

struct play {
	struct chance chance;
	struct rates *rates;
	uint64_t seed, now, interval;
	unsigned round;
	size_t n_instants;
	uint64_t instant[ROUNDS];
	struct truth truth[COUNTERS];
};

static void wrong(const struct play *p, const struct subject *s, enum rate_window w,
		  const char *what, double is, double should)
{
	fail_msg("seed %llu, round %u: %s of %s on port %u over %s is %.17g, not %.17g",
		 (unsigned long long)p->seed, p->round, what, s->name, s->port, rate_window_name(w),
		 is, should);
}

static bool near(double a, double b)
{
	double off = a > b ? a - b : b - a, most = a > b ? a : b;

	return off <= 1e-9 * (most > 1 ? most : 1);
}

/* --- what happens to the counters --- */

static uint64_t next_shown(struct play *p, const struct subject *s, uint64_t before)
{
	uint64_t gain = chance_below(&p->chance, 4) ? chance_u64(&p->chance) % (s->step + 1) : 0;

	if (s->gauge)
		return gain;
	if (s->bits)
		return (before + gain) & ((1ULL << s->bits) - 1);
	return s->end && gain > s->end - before ? s->end : before + gain;
}

/* Only where its value then tells that it began anew: what falls by more than half wrapped. */
static bool may_reset(const struct subject *s, const struct truth *t)
{
	return !s->gauge && t->shown > 1000 % (s->end ? s->end : 1001) &&
	       (!s->bits || t->shown <= 1ULL << 31) && !t->away;
}

static void change(struct play *p, unsigned i)
{
	const struct subject *s = &subjects[i];
	struct truth *t = &p->truth[i];

	/* Of one that is away nobody sees the steps: more than one might look like another. */
	if (t->away) {
		if (--t->away == 0)
			t->shown = next_shown(p, s, t->shown);
		return;
	}
	if (chance_below(&p->chance, 40) == 0 && may_reset(s, t)) {
		t->was_reset = t->known;
		t->shown = chance_below(&p->chance, s->end ? 2 : 1000) % (t->shown ? t->shown : 1);
		return;
	}
	if (chance_below(&p->chance, 50) == 0)
		t->away = 1 + chance_below(&p->chance, 7);
	else
		t->shown = next_shown(p, s, t->shown);
}

/* --- the model --- */

static void see(struct play *p, unsigned i)
{
	const struct subject *s = &subjects[i];
	struct truth *t = &p->truth[i];
	uint64_t mask = s->bits ? (1ULL << s->bits) - 1 : UINT64_MAX;

	if (!t->known) {
		t->known = true;
		t->first_instant = p->n_instants;
		t->growth = t->covered = 0;
	} else if (s->gauge) {
		t->growth += t->shown * ((p->now - t->seen) / NSEC_PER_MSEC);
		t->covered += p->now - t->seen;
	} else if (!t->was_reset) {
		t->growth += (t->shown - t->seen_shown) & mask;
		t->covered += p->now - t->seen;
	}
	t->was_reset = false;
	t->seen = p->now;
	t->seen_shown = t->shown;
	t->seen_round = p->round;
}

static void note_instant(struct play *p)
{
	if (p->n_instants && p->now - p->instant[p->n_instants - 1] < SPACING)
		return;
	p->instant[p->n_instants] = p->now;
	for (unsigned i = 0; i < COUNTERS; i++) {
		p->truth[i].growth_at[p->n_instants] = p->truth[i].growth;
		p->truth[i].covered_at[p->n_instants] = p->truth[i].covered;
	}
	p->n_instants++;
}

/* The latest instant that makes the window whole, or the first that there is. */
static size_t window_begin(const struct play *p, enum rate_window w)
{
	size_t oldest = p->n_instants > INSTANTS ? p->n_instants - INSTANTS : 0;

	for (size_t k = p->n_instants; k > oldest; k--)
		if (p->now - p->instant[k - 1] >= rate_window_ns[w])
			return k - 1;
	return oldest;
}

static void check_window(const struct play *p, unsigned i, enum rate_window w)
{
	const struct subject *s = &subjects[i];
	const struct truth *t = &p->truth[i];
	size_t from = window_begin(p, w);
	bool whole = from >= t->first_instant;
	double growth = (double)(t->growth - (whole ? t->growth_at[from] : 0)) * s->unit;
	uint64_t covered_ms =
		t->covered / NSEC_PER_MSEC - (whole ? t->covered_at[from] / NSEC_PER_MSEC : 0);
	bool there = t->known && t->seen_round + MISSED >= p->round;
	struct rate rate;
	bool got = rates_get(p->rates, s->port, s->signal, s->priority, w, &rate);

	if (got != (there && covered_ms > 0))
		wrong(p, s, w, "being known", got, there && covered_ms > 0);
	if (!got)
		return;
	if (!near(rate.growth, growth))
		wrong(p, s, w, "growth", rate.growth, growth);
	if (rate.covered_ns != covered_ms * NSEC_PER_MSEC)
		wrong(p, s, w, "time", (double)rate.covered_ns, (double)covered_ms * 1e6);
	if (!near(rate.per_second, growth * 1e3 / (double)covered_ms))
		wrong(p, s, w, "rate", rate.per_second, growth * 1e3 / (double)covered_ms);
	if (rate.saturated != (s->end && t->seen_shown == s->end))
		wrong(p, s, w, "saturation", rate.saturated, !rate.saturated);
	if (rate.last_value != t->seen_shown)
		wrong(p, s, w, "value", (double)rate.last_value, (double)t->seen_shown);
}

static void forget(struct play *p)
{
	for (unsigned i = 0; i < COUNTERS; i++) {
		struct truth *t = &p->truth[i];

		if (t->seen_round + MISSED < p->round && p->now - t->seen > FORGET)
			t->known = false;
	}
}

/* --- both --- */

static void add(struct play *p, uint64_t mono_ns)
{
	struct counter_value values[COUNTERS] = {0};
	struct rates_round round = {.mono_ns = mono_ns, .values = values};

	for (unsigned i = 0; i < COUNTERS; i++) {
		struct counter_value *v = &values[round.n_values];

		if (p->truth[i].away)
			continue;
		snprintf(v->name, sizeof(v->name), "%s", subjects[i].name);
		v->source = (uint8_t)subjects[i].source;
		v->port = subjects[i].port;
		v->value = p->truth[i].shown;
		round.n_values++;
	}
	rates_add(p->rates, &round);
}

static uint64_t time_to_next(struct play *p)
{
	uint64_t gap = p->interval + chance_below(&p->chance, 200) * NSEC_PER_MSEC;

	if (chance_below(&p->chance, 20) == 0)
		gap += chance_below(&p->chance, 200) * SEC;
	if (chance_below(&p->chance, 100) == 0)
		gap += chance_below(&p->chance, 2400) * SEC;
	return gap;
}

static void play_round(struct play *p)
{
	p->round++;
	p->now += time_to_next(p);
	for (unsigned i = 0; i < COUNTERS; i++)
		change(p, i);
	add(p, p->now);
	for (unsigned i = 0; i < COUNTERS; i++)
		if (!p->truth[i].away)
			see(p, i);
	note_instant(p);
	forget(p);
	/* What says that it is as old, or older, changes nothing. */
	if (chance_below(&p->chance, 10) == 0) {
		struct truth before[COUNTERS];

		memcpy(before, p->truth, sizeof(before));
		for (unsigned i = 0; i < COUNTERS; i++)
			p->truth[i].shown += 7;
		add(p, p->now - chance_below(&p->chance, 2) * SEC);
		memcpy(p->truth, before, sizeof(before));
	}
	for (unsigned i = 0; i < COUNTERS; i++)
		for (unsigned w = 0; w < RATE_WINDOWS; w++)
			check_window(p, i, (enum rate_window)w);
}

static void play(uint64_t seed)
{
	struct play *p = calloc(1, sizeof(*p));

	p->chance.state = seed * 2654435761u + 1;
	p->seed = seed;
	p->rates = rates_new();
	p->now = 1000 * SEC;
	p->interval = chance_below(&p->chance, 3) ? (1 + chance_below(&p->chance, 12)) * SEC
						  : 100 * NSEC_PER_MSEC;
	for (unsigned i = 0; i < COUNTERS; i++)
		p->truth[i].shown = subjects[i].end ? 200 : chance_below(&p->chance, UINT32_MAX);
	while (p->round < ROUNDS)
		play_round(p);
	rates_free(p->rates);
	free(p);
}

static void test_random_counters_agree_with_an_exact_model(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		play(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_counters_agree_with_an_exact_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
