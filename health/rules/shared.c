#include <stdarg.h>
#include <stdio.h>

#include "core/clock.h"
#include "core/names.h"
#include "health/rules/rules.h"

static unsigned level_of(const struct rule_input *in, unsigned key, int priority)
{
	return rates_level(in->rates, in->port, in->lone, key, priority);
}

struct tally_of rule_growth(const struct rule_input *in, unsigned key, int priority,
			    enum rate_window window)
{
	double length = (double)rate_window_ns[window] / NSEC_PER_SEC;
	unsigned level = level_of(in, key, priority);
	struct tally_of t = {.has = rates_has(in->rates, level, key, priority)};
	struct rate rate;

	if (!t.has || !rates_get(in->rates, level, key, priority, window, &rate))
		return t;
	t.known = true;
	t.name = rate.name;
	t.growth = rate.growth;
	t.growing = rate.grown_ago_ns == 0;
	t.seconds = (double)rate.covered_ns / NSEC_PER_SEC;
	/* A window of a minute is one of a minute and up to a round; only a gap is cut off. */
	if (t.seconds > 2 * length) {
		t.growth = rate.growth * length / t.seconds;
		t.seconds = length;
	}
	t.most = t.growth;
	return t;
}

static void add(struct tally_of *sum, const struct tally_of *one)
{
	sum->has |= one->has;
	if (!one->known)
		return;
	if (one->growth > 0 && sum->known && sum->growth > 0)
		sum->others++;
	if (!sum->known || one->growth > sum->most) {
		sum->name = one->name;
		sum->most = one->growth;
	}
	sum->growth += one->growth;
	if (one->seconds > sum->seconds)
		sum->seconds = one->seconds;
	sum->known = true;
}

struct tally_of rule_tally(const struct rule_input *in, const enum signal *signals, size_t n,
			   enum rate_window window)
{
	struct tally_of sum = {0};

	for (size_t i = 0; i < n; i++) {
		struct tally_of one = rule_growth(in, signals[i], -1, window);

		add(&sum, &one);
	}
	return sum;
}

bool rule_has(const struct rule_input *in, const enum signal *signals, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (rates_has(in->rates, level_of(in, signals[i], -1), signals[i], -1))
			return true;
	return false;
}

enum rule_state rule_level(const struct rule_input *in, enum rule rule, double value)
{
	uint32_t warning = in->limits->warning[rule], critical = in->limits->critical[rule];

	if (critical && value >= critical)
		return RULE_CRITICAL;
	if (warning && value >= warning)
		return RULE_WARNING;
	return RULE_OK;
}

double rule_limit(const struct rule_input *in, enum rule rule, enum rule_state level)
{
	return level == RULE_CRITICAL ? in->limits->critical[rule] : in->limits->warning[rule];
}

void rule_evidence(struct rule_said *ret, const char *name, double value, double threshold,
		   double window_seconds)
{
	struct rule_evidence *e;

	if (ret->n_evidence == RULE_EVIDENCE_MAX || !name)
		return;
	e = &ret->evidence[ret->n_evidence++];
	name_copy(e->name, sizeof(e->name), name);
	e->value = value;
	e->threshold = threshold;
	e->window_seconds = window_seconds;
}

void rule_evidence_of_sum(struct rule_said *ret, const char *sum_name, double sum, double threshold,
			  const char *name, double most, double window_seconds)
{
	if (most >= sum) {
		rule_evidence(ret, name, most, threshold, window_seconds);
		return;
	}
	rule_evidence(ret, sum_name, sum, threshold, window_seconds);
	rule_evidence(ret, name, most, 0, window_seconds);
}

void rule_text(struct rule_said *ret, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ret->text, sizeof(ret->text), fmt, ap);
	va_end(ap);
}
