/* The rules themselves, and what they share. A rule is called with a zeroed answer that says
 * judged, busy and not applicable; it fills in what it finds. */
#pragma once
#include "health/rule.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
/* Less than this of a window says nothing of it: the first burst after a start is no minute. Just
 * below the 10 s that two rounds of 5 s make. */
#define KNOWN_SECONDS 9.0

typedef void (*rule_fn)(const struct rule_input *in, struct rule_said *ret);

void rule_link_down(const struct rule_input *in, struct rule_said *ret);
void rule_link_flap(const struct rule_input *in, struct rule_said *ret);
void rule_link_errors(const struct rule_input *in, struct rule_said *ret);
void rule_link_degraded(const struct rule_input *in, struct rule_said *ret);
void rule_congestion(const struct rule_input *in, struct rule_said *ret);
void rule_cc_broken(const struct rule_input *in, struct rule_said *ret);
void rule_loss(const struct rule_input *in, struct rule_said *ret);
void rule_receiver_not_ready(const struct rule_input *in, struct rule_said *ret);
void rule_pause_received(const struct rule_input *in, struct rule_said *ret);
void rule_pause_sent(const struct rule_input *in, struct rule_said *ret);
void rule_pfc_storm(const struct rule_input *in, struct rule_said *ret);
void rule_pcie_bottleneck(const struct rule_input *in, struct rule_said *ret);
void rule_counters_saturated(const struct rule_input *in, struct rule_said *ret);
void rule_counters_unreadable(const struct rule_input *in, struct rule_said *ret);
void rule_firmware_stuck(const struct rule_input *in, struct rule_said *ret);

/* --- what they share --- */

/* The growth of one or several signals over a window. After a gap longer than the window it is
 * what falls into the window if it grew evenly. */
struct tally_of {
	bool has;   /* at least one such counter is there */
	bool known; /* and something is known of it */
	double growth;
	double seconds;	  /* known for so long, at most the window's length */
	const char *name; /* of the counter that grew most; NULL unless known */
	double most;	  /* what that one gained */
	bool growing;	  /* in the last round; told of one key alone */
	unsigned others;  /* how many more grew */
};

struct tally_of rule_tally(const struct rule_input *in, const enum signal *signals, size_t n,
			   enum rate_window window);
/* The same of one key (signal, or enum rate_own), and of a priority. */
struct tally_of rule_growth(const struct rule_input *in, unsigned key, int priority,
			    enum rate_window window);
bool rule_has(const struct rule_input *in, const enum signal *signals, size_t n);
/* Against the limits of the rule; a limit of 0 is none. */
enum rule_state rule_level(const struct rule_input *in, enum rule rule, double value);
/* The limit of that level, for evidence. */
double rule_limit(const struct rule_input *in, enum rule rule, enum rule_state level);
void rule_evidence(struct rule_said *ret, const char *name, double value, double threshold,
		   double window_seconds);
/* Of a sum over several counters: the sum against its limit by a name of ours, then the counter
 * that made most of it; of one counter alone, that one. */
void rule_evidence_of_sum(struct rule_said *ret, const char *sum_name, double sum, double threshold,
			  const char *name, double most, double window_seconds);
void rule_text(struct rule_said *ret, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
