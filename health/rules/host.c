/* This host: PCIe, the counters themselves, the NIC's firmware.
 *
 * Sources: mlx5 counts seconds in which PCIe stalled for more than 30 percent
 * (outbound_pci_stalled_*_events) and the share of the last second; a buffer towards PCIe that
 * overflows drops packets. IB counters that stand at their end say nothing any more. A NIC can be
 * up with clean counters and take no commands: only the kernel log shows it (NVSentinel #1526). */
#include "health/rules/rules.h"

#define PCI_ERRORS 10.0 /* in five minutes: more than noise */
#define SHARE_PER_SECONDS                                                                          \
	3.0 /* a mean share of 30 percent is as bad as 10 percent of such seconds */

/* The counter against its limit, both in its own unit. */
struct stall {
	const struct tally_of *t;
	double percent, value, limit;
};

static void tell_stall(const struct rule_input *in, const struct stall *s, struct rule_said *ret)
{
	rule_text(ret,
		  "PCIe stalled the NIC of %s for %.0f %% of %.0f s (%s): look at width and speed "
		  "of its slot, read request size, NUMA node and IOMMU",
		  in->id, s->percent > 100 ? 100 : s->percent, s->t->seconds, s->t->name);
	rule_evidence(ret, s->t->name, s->value, s->limit, s->t->seconds);
}

static bool known_for_long(const struct tally_of *t)
{
	return t->known && t->seconds >= KNOWN_SECONDS;
}

/* Seconds in which it stalled for more than 30 percent. */
static bool stalled_seconds(const struct rule_input *in, enum signal signal, struct rule_said *ret)
{
	struct tally_of t = rule_growth(in, signal, -1, RATE_1M);
	double percent = known_for_long(&t) ? 100 * t.growth / t.seconds : 0;
	enum rule_state level = rule_level(in, RULE_PCIE_BOTTLENECK, percent);

	if (level < RULE_WARNING)
		return false;
	ret->state = level;
	tell_stall(in,
		   &(struct stall){&t, percent, t.growth,
				   rule_limit(in, RULE_PCIE_BOTTLENECK, level) * t.seconds / 100},
		   ret);
	return true;
}

/* The share of each second, as its mean. */
static bool stalled_share(const struct rule_input *in, enum signal signal, struct rule_said *ret)
{
	struct tally_of t = rule_growth(in, signal, -1, RATE_1M);
	double percent = known_for_long(&t) ? t.growth / t.seconds : 0;
	enum rule_state level = rule_level(in, RULE_PCIE_BOTTLENECK, percent / SHARE_PER_SECONDS);

	if (level < RULE_WARNING)
		return false;
	ret->state = level;
	tell_stall(in,
		   &(struct stall){&t, percent, percent,
				   rule_limit(in, RULE_PCIE_BOTTLENECK, level) * SHARE_PER_SECONDS},
		   ret);
	return true;
}

static bool pci_errors(const struct rule_input *in, struct rule_said *ret)
{
	static const enum signal signals[] = {
		SIGNAL_HOST_PCI_OVERFLOW,
		SIGNAL_HOST_PCI_RX_ERRORS,
		SIGNAL_HOST_PCI_TX_ERRORS,
	};
	struct tally_of t = rule_tally(in, signals, COUNT(signals), RATE_5M);

	if (!in->limits->warning[RULE_PCIE_BOTTLENECK] || t.growth < PCI_ERRORS)
		return false;
	ret->state = RULE_WARNING;
	rule_text(ret,
		  "%.0f errors or overflows of PCIe on %s in %.0f s, most by %s: look at the slot, "
		  "and into the kernel log for AER",
		  t.growth, in->id, t.seconds, t.name);
	rule_evidence_of_sum(ret, "pci_errors", t.growth, PCI_ERRORS, t.name, t.most, t.seconds);
	return true;
}

void rule_pcie_bottleneck(const struct rule_input *in, struct rule_said *ret)
{
	static const enum signal any[] = {
		SIGNAL_HOST_PCI_STALL_RD,     SIGNAL_HOST_PCI_STALL_WR,
		SIGNAL_HOST_PCI_STALL_RD_PCT, SIGNAL_HOST_PCI_STALL_WR_PCT,
		SIGNAL_HOST_PCI_OVERFLOW,     SIGNAL_HOST_PCI_RX_ERRORS,
		SIGNAL_HOST_PCI_TX_ERRORS,
	};

	if (!rule_has(in, any, COUNT(any)))
		return;
	ret->state = RULE_OK;
	ret->cause = CAUSE_LOCAL_HOST;
	if (!stalled_seconds(in, SIGNAL_HOST_PCI_STALL_WR, ret) &&
	    !stalled_seconds(in, SIGNAL_HOST_PCI_STALL_RD, ret) &&
	    !stalled_share(in, SIGNAL_HOST_PCI_STALL_WR_PCT, ret) &&
	    !stalled_share(in, SIGNAL_HOST_PCI_STALL_RD_PCT, ret))
		pci_errors(in, ret);
}

void rule_counters_saturated(const struct rule_input *in, struct rule_said *ret)
{
	if (!in->values)
		return;
	ret->state = in->saturated ? RULE_WARNING : RULE_OK;
	ret->cause = CAUSE_MONITOR;
	ret->about_data = true;
	if (!in->saturated)
		return;
	rule_text(ret,
		  "%u counter%s of %s stand%s at the maximum and count%s no more (%s): clear with "
		  "perfquery -R",
		  in->saturated, in->saturated == 1 ? "" : "s", in->id,
		  in->saturated == 1 ? "s" : "", in->saturated == 1 ? "s" : "", in->saturated_name);
	rule_evidence(ret, "saturated_counters", in->saturated, 1, 0);
}

/* What never could be read is how the driver is; what could is missed. */
void rule_counters_unreadable(const struct rule_input *in, struct rule_said *ret)
{
	if (!in->values_most)
		return;
	ret->state = RULE_OK;
	ret->cause = CAUSE_LOCAL_NIC;
	ret->about_data = true;
	if (in->values)
		return;
	ret->state = RULE_WARNING;
	rule_text(ret,
		  "none of the %u counters of %s can be read any more: look for its driver in the "
		  "kernel log",
		  in->values_most, in->id);
	rule_evidence(ret, "readable_counters", in->values, in->values_most, 0);
}

void rule_firmware_stuck(const struct rule_input *in, struct rule_said *ret)
{
	if (!in->device->firmware_watched)
		return;
	ret->state = RULE_OK;
	if (!in->device->firmware_stuck_since_wall_ns)
		return;
	ret->state = RULE_CRITICAL;
	ret->cause = CAUSE_LOCAL_NIC;
	rule_text(ret,
		  "the firmware of %s takes no commands: %.150s; drain the host, then reset the "
		  "NIC or power-cycle",
		  in->device->name, in->device->firmware_stuck_text);
	rule_evidence(ret, "firmware_stuck", 1, 1, 0);
}
