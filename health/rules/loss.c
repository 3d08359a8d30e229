/* Packets that were lost, and receivers that were not ready.
 *
 * Sources: a lone request that is lost costs a time-out of the sender (local_ack_timeout_err), one
 * with followers a NAK (packet_seq_err), an answer to a READ an implied NAK; the receiver of a lost
 * request counts a gap (out_of_sequence), that of a lost acknowledgement a duplicate. RoCE at Scale
 * (SIGCOMM 2016): one packet of 250 lost brought throughput to nothing. That requests are flushed
 * when connections end is no loss: *_cqe_flush_error is not looked at.
 *
 * A probe of ours that the NIC gave up was sent retry_count + 1 times and ran into as many
 * time-outs: they are subtracted. rxe counts what it sent again, and the last time-out apart.
 * Others may be ours or not, and are told as such. */
#include "health/rules/rules.h"

static const enum signal lost[] = {
	SIGNAL_LOSS_ACK_TIMEOUT,   SIGNAL_LOSS_NAK_RCVD,       SIGNAL_LOSS_IMPLIED_NAK,
	SIGNAL_LOSS_RETRANS,	   SIGNAL_LOSS_RETRANS_ROUNDS, SIGNAL_LOSS_ADAPTIVE_RETRANS,
	SIGNAL_LOSS_RX_OUT_OF_SEQ, SIGNAL_LOSS_RETRY_EXCEEDED,
};

static const enum signal dropped_here[] = {
	SIGNAL_DROP_RX_NOBUF, SIGNAL_DROP_DEV_NOBUF, SIGNAL_DROP_RX,	   SIGNAL_DROP_RX_ROCE,
	SIGNAL_DROP_TX,	      SIGNAL_DROP_TX_PHY,    SIGNAL_DROP_RX_LIMIT, SIGNAL_DROP_TX_LIMIT,
};

/* Of the growth of a signal, what our own probes certainly caused. */
static double our_part(const struct rule_input *in, enum signal signal, double growth)
{
	struct tally_of own = rule_growth(in, RATE_OWN_RETRY_EXCEEDED, -1, RATE_1M);
	double part = 0;

	if (!own.known)
		return 0;
	switch ((unsigned)signal) {
	case SIGNAL_LOSS_ACK_TIMEOUT:
	case SIGNAL_LOSS_RETRANS:
		part = own.growth * (in->retry_count + 1);
		break;
	case SIGNAL_LOSS_RETRANS_ROUNDS:
		part = own.growth * in->retry_count;
		break;
	case SIGNAL_LOSS_RETRY_EXCEEDED:
		part = own.growth;
		break;
	}
	return part < growth ? part : growth;
}

static const char *probes_note(const struct rule_input *in)
{
	struct tally_of own = rule_growth(in, RATE_OWN_TROUBLED, -1, RATE_1M);

	return own.known && own.growth > 0 ? " (includes probes)" : "";
}

struct losses {
	double growth, ours, seconds, most;
	const char *name;
};

static struct losses count_losses(const struct rule_input *in)
{
	struct losses l = {0};

	for (size_t i = 0; i < COUNT(lost); i++) {
		struct tally_of t = rule_growth(in, lost[i], -1, RATE_1M);
		double ours, rest;

		if (!t.known)
			continue;
		ours = our_part(in, lost[i], t.growth);
		rest = t.growth - ours;
		l.growth += rest;
		l.ours += ours;
		if (t.seconds > l.seconds)
			l.seconds = t.seconds;
		if (!l.name || rest > l.most) {
			l.name = t.name;
			l.most = rest;
		}
	}
	return l;
}

void rule_loss(const struct rule_input *in, struct rule_said *ret)
{
	struct tally_of here = rule_tally(in, dropped_here, COUNT(dropped_here), RATE_1M);
	struct losses l = count_losses(in);
	bool local = here.known && here.growth >= l.growth / 2 && here.growth > 0;

	if (!rule_has(in, lost, COUNT(lost)))
		return;
	ret->judged = l.name != NULL;
	ret->state = rule_level(in, RULE_LOSS, l.growth);
	if (ret->state < RULE_WARNING)
		return;
	ret->cause = local ? CAUSE_LOCAL_HOST : CAUSE_PATH;
	rule_text(ret, "%.0f losses or retransmissions on %s in %.0f s%s, most by %s: %s", l.growth,
		  in->id, l.seconds, probes_note(in), l.name,
		  local ? "this host drops packets itself, look at its buffers and limits"
			: "packets are lost in the network, look for drops and errors on the way");
	rule_evidence_of_sum(ret, "losses", l.growth, rule_limit(in, RULE_LOSS, ret->state), l.name,
			     l.most, l.seconds);
	if (l.ours > 0)
		rule_evidence(ret, "subtracted_own_probes", l.ours, 0, l.seconds);
	if (local)
		rule_evidence(ret, here.name, here.most, 0, here.seconds);
}

void rule_receiver_not_ready(const struct rule_input *in, struct rule_said *ret)
{
	static const enum signal here[] = {SIGNAL_RNR_NAK_SENT, SIGNAL_RNR_NO_BUFFER};
	static const enum signal there[] = {SIGNAL_RNR_NAK_RCVD, SIGNAL_RNR_RETRY_EXCEEDED};
	struct tally_of ours = rule_tally(in, here, COUNT(here), RATE_1M);
	struct tally_of theirs = rule_tally(in, there, COUNT(there), RATE_1M);
	const struct tally_of *most = ours.growth >= theirs.growth ? &ours : &theirs;

	if (!ours.has && !theirs.has)
		return;
	ret->judged = ours.known || theirs.known;
	ret->state = rule_level(in, RULE_RECEIVER_NOT_READY, most->growth);
	if (ret->state < RULE_WARNING)
		return;
	ret->cause = most == &ours ? CAUSE_LOCAL_HOST : CAUSE_REMOTE_HOST;
	if (most == &ours)
		rule_text(ret,
			  "%.0f requests in %.0f s found no receive posted on %s%s: a program on "
			  "this host takes its messages too slowly; look for its load and its "
			  "receive queues",
			  most->growth, most->seconds, in->id, probes_note(in));
	else
		rule_text(ret,
			  "%.0f requests of %s in %.0f s found a peer not ready%s: a program "
			  "there takes its messages too slowly; look at the hosts that it talks to",
			  most->growth, in->id, most->seconds, probes_note(in));
	rule_evidence_of_sum(ret, "not_ready", most->growth,
			     rule_limit(in, RULE_RECEIVER_NOT_READY, ret->state), most->name,
			     most->most, most->seconds);
}
