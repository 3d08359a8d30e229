/* How fast the counters of one device grow: what each gained over the last 10 s, minute and five
 * minutes, by port, signal and priority. Pure: the time of a round is its argument.
 *
 * The difference between two values counts for the whole time between them, however long that
 * was: a NIC counts on while nobody reads it, so that a missed round, a reader that hung and a
 * worker that was replaced lose nothing. What a counter held when it began anew is lost: that step
 * adds neither growth nor time, and a window says for how long it knows (covered_ns), which may be
 * less than its length, or more after a gap.
 *
 * Of several counters with one signal the first source in this order that has it is taken:
 * hw_counters, ethtool, counters_ext, counters, optional (cc_*); host and wire view are never added
 * up. Within a source only those are added that count different things (lanes, kinds of one error),
 * else the first name goes before the others.
 *
 * What the legs of a port's bond count is the port's where nothing else of it counts the same:
 * their sum, or what the worst of them has where it is a share of time. A leg that was away begins
 * anew: what it did meanwhile was not the port's.
 *
 * Bounded: at most RATES_PORT_SERIES counters a port, and RATES_LEG_SERIES of its legs, each of a
 * kB; a NIC with all there is, and pauses of eight priorities, has 150. Not thread safe. */
#pragma once
#include "probes/counter_table.h"

#define RATES_PORT_SERIES 192
#define RATES_LEG_SERIES 512
#define RATES_PRIORITIES 8

enum rate_window { RATE_10S, RATE_1M, RATE_5M };
#define RATE_WINDOWS 3
extern const uint64_t rate_window_ns[RATE_WINDOWS];
const char *rate_window_name(enum rate_window w); /* "10s", "1m", "5m" */

/* What this daemon's own probes on a port did, beside the signals of the NIC. */
enum rate_own {
	RATE_OWN_RETRY_EXCEEDED = SIGNAL_COUNT, /* probes that the NIC gave up */
	RATE_OWN_TROUBLED, /* probes that failed or seem to have been sent again */
};
#define RATE_KEYS (SIGNAL_COUNT + 2)

struct rate_own_total {
	uint8_t port;
	uint64_t retry_exceeded, troubled; /* since main's start */
};

struct rates_round {
	uint64_t mono_ns; /* when it ended; one that is not later than the last is ignored */
	const struct counter_value *values;
	size_t n_values;
	const struct rate_own_total *own;
	size_t n_own;
};

/* A window that ends with the last round. */
struct rate {
	const char *name;    /* of the counter, as the vendor has it; owned by the rates */
	double growth;	     /* in the unit of the counter, words as bytes; of a gauge: value x s */
	uint64_t covered_ns; /* over this time; never 0 */
	double per_second;   /* of a gauge: its mean */
	uint64_t last_value; /* as last read */
	uint64_t grown_ago_ns; /* since the round that last saw it grow; UINT64_MAX: none did */
	bool saturated;	       /* it cannot grow any more: growth is the least */
};

struct rates;

struct rates *rates_new(void); /* NULL: no memory */
void rates_free(struct rates *r);
/* What there is no room for is left out. */
void rates_add(struct rates *r, const struct rates_round *round);
uint64_t rates_last_ns(const struct rates *r); /* of the last round; 0: none */
/* key: an enum signal or enum rate_own; priority -1: of counters that have none. False: no such
 * counter, or nothing is known of it yet. */
bool rates_get(const struct rates *r, unsigned port, unsigned key, int priority,
	       enum rate_window window, struct rate *ret);
/* A counter of that signal was there in the last rounds, known or not yet. */
bool rates_has(const struct rates *r, unsigned port, unsigned key, int priority);
/* Where a port finds that signal: its own number; 0, the device's own counters, when it is the
 * device's lone port and has none of that signal itself. */
unsigned rates_level(const struct rates *r, unsigned port, bool lone, unsigned key, int priority);
/* Bit p: the signal is counted for priority p. */
unsigned rates_priorities(const struct rates *r, unsigned port, unsigned key);
/* Whether rates of that signal are kept at all. */
bool rates_wants(enum signal signal);
