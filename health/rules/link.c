/* The link itself: down, flapping, errors, slower than it could be.
 *
 * Sources: a flap is a link that went down at least twice in a short while, and a verdict on it
 * stays for a while that is counted from when the link is well again, for what is forgotten at once
 * confuses and what is never forgotten drains good hosts (gpud #1110, #1247). IBTA: at most one
 * symbol error in some hours is within the specified bit error rate of 1e-12. NVIDIA: raw bit error
 * rates above 1e-5 before error correction call for a look at cable and module. */
#include "core/clock.h"
#include "health/rules/rules.h"

#define STATE_ACTIVE 4
#define RAW_BIT_ERRORS 1e-5

static double seconds(uint64_t ns)
{
	return (double)ns / NSEC_PER_SEC;
}

void rule_link_down(const struct rule_input *in, struct rule_said *ret)
{
	if (!in->expected || !in->fact->state_known)
		return;
	ret->state = RULE_OK;
	ret->cause = CAUSE_LOCAL_PORT;
	if (!in->up) {
		ret->state = RULE_CRITICAL;
		rule_text(ret,
			  "the link of %s is %s (%s) for %.0f s: look at cable, module and the "
			  "port of the switch, or somebody took it down",
			  in->id, in->fact->state_text, in->fact->phys_state_text,
			  seconds(in->down_ns));
		rule_evidence(ret, "state", in->fact->state, STATE_ACTIVE, seconds(in->down_ns));
		return;
	}
	if (in->up_ns >= in->limits->recovery_ns)
		return;
	/* Down and up again: to be known, and no fault any more. */
	ret->state = RULE_WARNING;
	ret->past = true;
	rule_text(ret,
		  "the link of %s was down for %.0f s and is up again for %.0f s: if nobody took "
		  "it down, look at cable, module and the port of the switch",
		  in->id, seconds(in->down_ns), seconds(in->up_ns));
	rule_evidence(ret, "down_seconds", seconds(in->down_ns), 0, seconds(in->up_ns));
}

void rule_link_flap(const struct rule_input *in, struct rule_said *ret)
{
	struct tally_of counted = rule_growth(in, SIGNAL_LINK_DOWN, -1, RATE_5M);
	double losses = in->losses;
	const char *name = "losses of the active state";

	if (!in->expected || (!counted.has && !in->fact->state_known))
		return;
	if (counted.known && counted.growth >= losses) {
		losses = (double)(uint64_t)(counted.growth + 0.5);
		name = counted.name;
	}
	ret->state = rule_level(in, RULE_LINK_FLAP, losses);
	if (ret->state < RULE_WARNING)
		return;
	ret->cause = CAUSE_LOCAL_PORT;
	ret->busy = !in->up || counted.growing || in->up_ns == 0;
	rule_text(ret,
		  "the link of %s went down %.0f times in five minutes: look at cable, module and "
		  "the port of the switch; this stands until it was quiet for %.0f s",
		  in->id, losses, seconds(in->limits->recovery_ns));
	rule_evidence(ret, name, losses, rule_limit(in, RULE_LINK_FLAP, ret->state), 300);
}

/* What error correction mends is no error yet, but its rate tells how near the end is. */
static void raw_errors_high(const struct rule_input *in, struct rule_said *ret)
{
	struct tally_of bits = rule_growth(in, SIGNAL_LINK_FEC_CORRECTED_BITS, -1, RATE_5M);
	double rate = (double)in->fact->rate_bytes_per_second * 8, ratio;

	if (!bits.known || !in->fact->rate_known || rate <= 0 || bits.seconds < 30)
		return;
	ratio = bits.growth / (rate * bits.seconds);
	if (ratio < RAW_BIT_ERRORS)
		return;
	ret->state = RULE_WARNING;
	rule_text(ret,
		  "error correction mends one bit of %.0f on %s (%s): clean or replace module or "
		  "cable before it cannot mend them all and packets are lost",
		  1 / ratio, in->id, bits.name);
	rule_evidence(ret, bits.name, bits.growth, RAW_BIT_ERRORS * rate * bits.seconds,
		      bits.seconds);
}

void rule_link_errors(const struct rule_input *in, struct rule_said *ret)
{
	static const enum signal signals[] = {
		SIGNAL_LINK_FEC_UNCORRECTED,
		SIGNAL_LINK_FEC_UNCORRECTED_BLOCKS,
		SIGNAL_LINK_CRC,
		SIGNAL_LINK_SYMBOL_ERRORS,
		SIGNAL_LINK_RX_ERRORS,
		SIGNAL_LINK_INTEGRITY,
		SIGNAL_LINK_BUFFER_OVERRUN,
		SIGNAL_LINK_RECOVERY,
		SIGNAL_ERR_RX_ICRC,
		SIGNAL_LINK_MODULE_ERR,
	};
	const size_t n = sizeof(signals) / sizeof(signals[0]);
	struct tally_of t = rule_tally(in, signals, n, RATE_5M);

	if (!t.has)
		return;
	ret->judged = t.known;
	ret->cause = CAUSE_LOCAL_PORT;
	ret->state = rule_level(in, RULE_LINK_ERRORS, t.growth);
	if (ret->state < RULE_WARNING) {
		raw_errors_high(in, ret);
		return;
	}
	rule_text(ret,
		  "%.0f errors of the link on %s in %.0f s, most by %s%s: clean or replace cable "
		  "and module at this end and the other",
		  t.growth, in->id, t.seconds, t.name, t.others ? " but not alone" : "");
	rule_evidence_of_sum(ret, "link_errors", t.growth,
			     rule_limit(in, RULE_LINK_ERRORS, ret->state), t.name, t.most,
			     t.seconds);
	for (size_t i = 0; i < n; i++) {
		struct tally_of one = rule_growth(in, signals[i], -1, RATE_5M);

		if (one.known && one.growth > 0 && one.name != t.name)
			rule_evidence(ret, one.name, one.growth, 0, one.seconds);
	}
}

static bool slower_than_configured(const struct rule_input *in, struct rule_said *ret)
{
	double rate = (double)in->fact->rate_bytes_per_second;
	double expected = (double)in->fact->expected_rate_bytes_per_second;

	if (rate >= expected)
		return false;
	rule_text(ret,
		  "%s runs at %.4g Gbit/s and should at %.4g: look at cable and module, at lanes "
		  "that are lost, and at what the switch's port is set to",
		  in->id, rate * 8e-9, expected * 8e-9);
	rule_evidence(ret, "rate_bytes_per_second", rate, expected, 0);
	return true;
}

/* What both ends of a link have agreed to take if they can, they should have. */
static bool slower_than_agreed(const struct rule_input *in, const struct link_fact *l,
			       const char *netdev, struct rule_said *ret)
{
	bool slow = l->megabits && l->megabits < l->common_megabits;
	bool narrow = l->lanes && l->lanes < l->common_lanes;

	if (!slow && !narrow)
		return false;
	rule_text(ret,
		  "%s (%s) runs at %.4g Gbit/s%s, and both ends of the link advertise %.4g on %u "
		  "lane%s: look at cable and module, and for lanes that are lost",
		  in->id, netdev, l->megabits * 1e-3, narrow ? " on fewer lanes" : "",
		  l->common_megabits * 1e-3, l->common_lanes, l->common_lanes == 1 ? "" : "s");
	rule_evidence(ret, "speed_bytes_per_second", (double)(l->megabits * BYTES_OF_MEGABIT),
		      (double)(l->common_megabits * BYTES_OF_MEGABIT), 0);
	if (l->lanes)
		rule_evidence(ret, "lanes", l->lanes, l->common_lanes, 0);
	return true;
}

/* A bond goes on without a leg, slower or one fault from its end, and no counter says so. */
static bool legs_without_link(const struct rule_input *in, struct rule_said *ret)
{
	const struct port_config_fact *c = &in->fact->config;
	unsigned n = port_fact_legs(in->fact), down = 0, first = 0;

	for (unsigned i = n; i-- > 0;) {
		if (!(c->legs_known & ~c->legs_up & 1u << i))
			continue;
		first = i;
		down++;
	}
	if (down == 0)
		return false;
	rule_text(ret,
		  "%u of the %u legs of %s (%s) %s no link, %s%s: look at cable, module and the "
		  "port of the switch, or somebody took it down",
		  down, n, c->bond, in->id, down == 1 ? "has" : "have", c->members[first],
		  down == 1 ? "" : " among them");
	rule_evidence(ret, "legs_up", n - down, n, 0);
	return true;
}

static bool any_slower_than_agreed(const struct rule_input *in, struct rule_said *ret)
{
	const struct port_fact *f = in->fact;
	unsigned n = port_fact_legs(f);

	for (unsigned i = 0; i < n; i++)
		if (slower_than_agreed(in, &f->leg[i], f->config.members[i], ret))
			return true;
	return n == 0 && slower_than_agreed(in, &f->link, f->netdev, ret);
}

static bool any_agreed(const struct port_fact *f)
{
	unsigned n = port_fact_legs(f);

	for (unsigned i = 0; i < n; i++)
		if (f->leg[i].common_megabits)
			return true;
	return f->link.common_megabits;
}

/* What is configured has the word. What a port could do alone proves nothing: a fast NIC at a slow
 * switch is how it was bought. */
static bool rate_known(const struct port_fact *f)
{
	return f->expected_by == RATE_OF_CONFIGURATION ? f->rate_known : any_agreed(f);
}

static bool slower(const struct rule_input *in, struct rule_said *ret)
{
	return in->fact->expected_by == RATE_OF_CONFIGURATION ? slower_than_configured(in, ret)
							      : any_slower_than_agreed(in, ret);
}

void rule_link_degraded(const struct rule_input *in, struct rule_said *ret)
{
	bool by_legs = port_fact_legs(in->fact) && in->fact->config.legs_known;
	bool by_rate = rate_known(in->fact), degraded;

	if (!in->expected || !in->up || (!by_legs && !by_rate))
		return;
	degraded = legs_without_link(in, ret) || (by_rate && slower(in, ret));
	ret->state = degraded ? RULE_WARNING : RULE_OK;
	ret->cause = CAUSE_LOCAL_PORT;
}
