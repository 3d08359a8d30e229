/* Pauses: received (the network stops us), sent (we stop the network), and storms.
 *
 * Sources: RoCE at Scale (SIGCOMM 2016): how long a port was paused tells more than how many
 * frames; slow receivers sent thousands of frames a second; a NIC that pauses for ever can block a
 * whole network. SONiC's watchdog: a storm is a queue that has packets, sends none, and is paused
 * for more than 99 percent of the interval (80 percent gave false alarms). mlx5:
 * tx_pause_storm_warning_events and _error_events are its own watchdog. */
#include "health/rules/rules.h"

#include <stdio.h>

/* Where a driver counts frames but not their time: so many a second stand for one percent. */
#define FRAMES_A_PERCENT 200.0
#define MOVING_BYTES 4096.0 /* in a window: less is what a link says to itself */

/* The signals of one direction. */
struct direction {
	enum signal pfc_us, pfc_frames, pause_us, pause_frames, pause_frames_phy;
	enum signal prio_bytes, bytes[3]; /* of all priorities: the first that is counted */
};

static const struct direction received = {
	SIGNAL_PFC_RX_US,
	SIGNAL_PFC_RX_FRAMES,
	SIGNAL_PAUSE_RX_US,
	SIGNAL_PAUSE_RX_FRAMES,
	SIGNAL_PAUSE_RX_FRAMES_PHY,
	SIGNAL_TRAFFIC_TX_PRIO_BYTES,
	{SIGNAL_TRAFFIC_TX_RDMA_BYTES, SIGNAL_TRAFFIC_TX, SIGNAL_TRAFFIC_TX_BYTES},
};
static const struct direction sent = {
	SIGNAL_PFC_TX_US,
	SIGNAL_PFC_TX_FRAMES,
	SIGNAL_PAUSE_TX_US,
	SIGNAL_PAUSE_TX_FRAMES,
	SIGNAL_PAUSE_TX_FRAMES_PHY,
	SIGNAL_TRAFFIC_RX_PRIO_BYTES,
	{SIGNAL_TRAFFIC_RX_RDMA_BYTES, SIGNAL_TRAFFIC_RX, SIGNAL_TRAFFIC_RX_BYTES},
};

/* How much of the time the port, or its worst priority, was paused. */
struct paused {
	bool has, known;
	double percent, growth, seconds;
	bool frames;  /* of frames, for their time is not counted */
	int priority; /* -1: all */
	const char *name;
};

static void take_worse(struct paused *p, const struct tally_of *t, int priority, bool frames)
{
	double percent;

	p->has |= t->has;
	if (!t->known || t->seconds <= 0)
		return;
	percent = frames ? t->growth / t->seconds / FRAMES_A_PERCENT
			 : t->growth / t->seconds / 1e4; /* microseconds */
	if (p->known && percent <= p->percent)
		return;
	*p = (struct paused){true,	true,	    percent > 100 ? 100 : percent,
			     t->growth, t->seconds, frames,
			     priority,	t->name};
}

static void look_at(const struct rule_input *in, unsigned signal, bool frames,
		    enum rate_window window, struct paused *p)
{
	unsigned priorities = rates_priorities(in->rates, in->port, signal);

	for (int priority = -1; priority < RATES_PRIORITIES; priority++) {
		struct tally_of t;

		if (priority >= 0 && !(priorities & 1u << priority))
			continue;
		t = rule_growth(in, signal, priority, window);
		take_worse(p, &t, priority, frames);
	}
}

static struct paused how_paused(const struct rule_input *in, const struct direction *d,
				enum rate_window window)
{
	struct paused p = {.priority = -1};

	look_at(in, d->pfc_us, false, window, &p);
	look_at(in, d->pause_us, false, window, &p);
	if (p.has)
		return p;
	look_at(in, d->pfc_frames, true, window, &p);
	look_at(in, d->pause_frames, true, window, &p);
	if (!p.has)
		look_at(in, d->pause_frames_phy, true, window, &p);
	return p;
}

static const char *priority_words(int priority, char buf[24])
{
	if (priority < 0)
		return "";
	snprintf(buf, 24, " in priority %d", priority);
	return buf;
}

static void judge_pause(const struct rule_input *in, enum rule rule, const struct direction *d,
			const char *what, const char *advice, struct rule_said *ret)
{
	struct paused p = how_paused(in, d, RATE_1M);
	double limit;
	char words[24];

	if (!p.has)
		return;
	ret->judged = p.known && p.seconds >= KNOWN_SECONDS;
	ret->state = rule_level(in, rule, p.percent);
	if (ret->state < RULE_WARNING)
		return;
	limit = rule_limit(in, rule, ret->state);
	if (p.frames)
		rule_text(ret, "%s %s %.0f pause frames%s in %.0f s (%s): %s", in->id, what,
			  p.growth, priority_words(p.priority, words), p.seconds, p.name, advice);
	else
		rule_text(ret, "%s %s pauses%s for %.0f %% of %.0f s (%s): %s", in->id, what,
			  priority_words(p.priority, words), p.percent, p.seconds, p.name, advice);
	rule_evidence(ret, p.name, p.growth,
		      limit * p.seconds * (p.frames ? FRAMES_A_PERCENT : 1e4), p.seconds);
}

void rule_pause_received(const struct rule_input *in, struct rule_said *ret)
{
	ret->cause = CAUSE_CONGESTION;
	judge_pause(in, RULE_PAUSE_RECEIVED, &received, "received",
		    "the network stops this host from sending: look at the switch, and for the "
		    "slow receiver behind it",
		    ret);
}

void rule_pause_sent(const struct rule_input *in, struct rule_said *ret)
{
	ret->cause = CAUSE_LOCAL_HOST;
	judge_pause(in, RULE_PAUSE_SENT, &sent, "sent",
		    "this host is a slow receiver and stops the network: look at its PCIe, memory "
		    "and IOMMU",
		    ret);
}

/* Whether anything moved in what is paused; unknown where nothing counts it. */
static bool moved(const struct rule_input *in, const struct direction *d, int priority,
		  bool *ret_known)
{
	struct tally_of t = {0};

	if (priority >= 0)
		t = rule_growth(in, d->prio_bytes, priority, RATE_10S);
	for (size_t i = 0; !t.known && i < COUNT(d->bytes); i++)
		t = rule_growth(in, d->bytes[i], -1, RATE_10S);
	*ret_known = t.known;
	return t.growth > MOVING_BYTES;
}

static bool is_counted(const struct rule_input *in, const struct direction *d, int priority)
{
	bool known;

	moved(in, d, priority, &known);
	return known || rule_has(in, d->bytes, COUNT(d->bytes));
}

static bool storm(const struct rule_input *in, const struct direction *d, bool incoming,
		  struct rule_said *ret)
{
	struct paused p = how_paused(in, d, RATE_10S);
	double limit = in->limits->critical[RULE_PFC_STORM];
	bool known;
	char words[24];

	if (!p.known || p.frames || !limit || p.percent < limit || p.seconds < KNOWN_SECONDS)
		return false;
	if (moved(in, d, p.priority, &known) || !known)
		return false;
	ret->state = RULE_CRITICAL;
	ret->cause = incoming ? CAUSE_CONGESTION : CAUSE_LOCAL_HOST;
	rule_text(ret, "PFC storm%s on %s: paused for %.0f %% of %.0f s while nothing moves: %s",
		  priority_words(p.priority, words), in->id, p.percent, p.seconds,
		  incoming ? "the network lets it send nothing; find who pauses at the switch"
			   : "it blocks the network; take this port down, then look at its NIC");
	rule_evidence(ret, p.name, p.growth, limit * p.seconds * 1e4, p.seconds);
	return true;
}

/* The NIC's own watchdog. */
static bool storm_told(const struct rule_input *in, struct rule_said *ret)
{
	struct tally_of error = rule_growth(in, SIGNAL_PFC_STORM_ERR, -1, RATE_5M);
	struct tally_of warning = rule_growth(in, SIGNAL_PFC_STORM_WARN, -1, RATE_5M);
	uint32_t limit = in->limits->warning[RULE_PFC_STORM];
	const struct tally_of *t = error.growth > 0 ? &error : &warning;

	if (!limit || t->growth < limit)
		return false;
	ret->state = t == &error ? RULE_CRITICAL : RULE_WARNING;
	ret->cause = CAUSE_LOCAL_HOST;
	rule_text(ret,
		  "the NIC of %s saw %.0f PFC storms in %.0f s (%s): it paused the network for too "
		  "long%s; look at what this host does not take",
		  in->id, t->growth, t->seconds, t->name,
		  t == &error ? " and now drops instead" : "");
	rule_evidence(ret, t->name, t->growth, limit, t->seconds);
	return true;
}

void rule_pfc_storm(const struct rule_input *in, struct rule_said *ret)
{
	struct paused rx = how_paused(in, &received, RATE_10S);
	struct paused tx = how_paused(in, &sent, RATE_10S);
	static const enum signal told[] = {SIGNAL_PFC_STORM_ERR, SIGNAL_PFC_STORM_WARN};
	/* That nothing moves can only be seen where something counts it. */
	bool timed = (rx.has && !rx.frames && is_counted(in, &received, rx.priority)) ||
		     (tx.has && !tx.frames && is_counted(in, &sent, tx.priority));

	if (!timed && !rule_has(in, told, 2))
		return;
	ret->state = RULE_OK;
	if (!storm(in, &sent, false, ret) && !storm_told(in, ret))
		storm(in, &received, true, ret);
}
