/* Congestion on the way, and congestion control that does nothing about it.
 *
 * Sources: DCQCN (SIGCOMM 2015): switches mark (ECN), the receiver answers with notifications (CNP:
 * np_*), the sender slows down (rp_*). Aegis (NSDI 2025): 10,000 to 30,000 marks a second on one
 * NIC came with iterations that took a quarter longer. NVIDIA on rp_cnp_ignored: it grows where
 * congestion control is off; marks without notifications: the receiver's part is off. */
#include "health/rules/rules.h"

/* Marks per 1000 packets say more than a number; told where packets are counted. */
static void add_share(const struct rule_input *in, struct rule_said *ret, double marks)
{
	struct tally_of packets = rule_growth(in, SIGNAL_TRAFFIC_RX_PACKETS, -1, RATE_1M);

	if (packets.known && packets.growth > 0)
		rule_evidence(ret, packets.name, packets.growth, marks, packets.seconds);
}

void rule_congestion(const struct rule_input *in, struct rule_said *ret)
{
	struct tally_of marks = rule_growth(in, SIGNAL_CC_RX_ECN_MARKED, -1, RATE_1M);
	struct tally_of cnp = rule_growth(in, SIGNAL_CC_CNP_RX, -1, RATE_1M);
	double in_rate = marks.known ? marks.growth / marks.seconds : 0;
	double out_rate = cnp.known ? cnp.growth / cnp.seconds : 0;
	bool incoming = marks.known && (!cnp.known || in_rate >= out_rate);
	const struct tally_of *most = incoming ? &marks : &cnp;

	if (!marks.has && !cnp.has)
		return;
	ret->judged = most->known && most->seconds >= KNOWN_SECONDS;
	ret->state = rule_level(in, RULE_CONGESTION, incoming ? in_rate : out_rate);
	if (ret->state < RULE_WARNING)
		return;
	ret->cause = CAUSE_CONGESTION;
	rule_text(ret,
		  "%.0f %s a second on %s: the network is congested %s this port; look for the "
		  "queues that mark, and for many senders to one",
		  incoming ? in_rate : out_rate,
		  incoming ? "packets with a congestion mark" : "congestion notifications", in->id,
		  incoming ? "on the way to" : "on the way from");
	rule_evidence(ret, most->name, most->growth,
		      rule_limit(in, RULE_CONGESTION, ret->state) * most->seconds, most->seconds);
	if (incoming)
		add_share(in, ret, 0);
	if (incoming && cnp.known)
		rule_evidence(ret, cnp.name, cnp.growth, 0, cnp.seconds);
}

static bool notifications_missing(const struct rule_input *in, struct rule_said *ret)
{
	struct tally_of marks = rule_growth(in, SIGNAL_CC_RX_ECN_MARKED, -1, RATE_1M);
	struct tally_of sent = rule_growth(in, SIGNAL_CC_CNP_TX, -1, RATE_1M);
	enum rule_state level = rule_level(in, RULE_CC_BROKEN, marks.growth);

	if (!marks.known || !sent.known || sent.growth > 0 || level < RULE_WARNING)
		return false;
	ret->state = level;
	rule_text(ret,
		  "%s got %.0f packets with a congestion mark in %.0f s and sent no notification: "
		  "its senders never slow down; switch on ECN of RoCE (notification point) for "
		  "the priority in use",
		  in->id, marks.growth, marks.seconds);
	rule_evidence(ret, marks.name, marks.growth, rule_limit(in, RULE_CC_BROKEN, level),
		      marks.seconds);
	rule_evidence(ret, sent.name, sent.growth, 0, sent.seconds);
	return true;
}

static bool notifications_ignored(const struct rule_input *in, struct rule_said *ret)
{
	struct tally_of ignored = rule_growth(in, SIGNAL_CC_CNP_RX_IGNORED, -1, RATE_1M);
	struct tally_of handled = rule_growth(in, SIGNAL_CC_CNP_RX, -1, RATE_1M);
	enum rule_state level = rule_level(in, RULE_CC_BROKEN, ignored.growth);

	/* A few of those that come are for queue pairs that are gone. */
	if (!ignored.known || level < RULE_WARNING || ignored.growth < handled.growth)
		return false;
	ret->state = level;
	rule_text(ret,
		  "%s got %.0f congestion notifications in %.0f s and ignored them: it sends at "
		  "full rate into a congested network; switch on ECN of RoCE (reaction point) for "
		  "the priority in use",
		  in->id, ignored.growth, ignored.seconds);
	rule_evidence(ret, ignored.name, ignored.growth, rule_limit(in, RULE_CC_BROKEN, level),
		      ignored.seconds);
	if (handled.known)
		rule_evidence(ret, handled.name, handled.growth, 0, handled.seconds);
	return true;
}

void rule_cc_broken(const struct rule_input *in, struct rule_said *ret)
{
	static const enum signal ignored[] = {SIGNAL_CC_CNP_RX_IGNORED};
	static const enum signal marks[] = {SIGNAL_CC_RX_ECN_MARKED};
	static const enum signal sent[] = {SIGNAL_CC_CNP_TX};
	bool receiver = rule_has(in, marks, 1) && rule_has(in, sent, 1);

	if (!receiver && !rule_has(in, ignored, 1))
		return;
	ret->state = RULE_OK;
	ret->cause = CAUSE_CONGESTION;
	if (!notifications_missing(in, ret))
		notifications_ignored(in, ret);
}
