#include "daemon/looker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/log.h"
#include "daemon/counter_news.h"
#include "daemon/daemon.h"
#include "daemon/doubts.h"
#include "daemon/kernel_log.h"
#include "daemon/lacks.h"
#include "daemon/pace.h"
#include "daemon/rule_feed.h"
#include "daemon/rule_log.h"
#include "daemon/verdict_log.h"
#include "daemon/view.h"
#include "health/fabric.h"
#include "health/judge.h"

#define STATUS_TEXT 256

struct looker {
	struct daemon *daemon;
	struct loop_source *timer;
	bool armed;
	uint64_t ended_ns, cost_ns; /* of the last look */
	struct judge *judge;
	struct counter_round *scratch; /* of any device */
	struct strbuf words;
	struct snapshot_pool *pool;
	struct snapshot *last;
};

/* --- reading --- */

void looker_read_device(struct looker *l, struct device *dev)
{
	struct daemon *d = l->daemon;
	const struct table *table;
	bool new_round;

	if (!dev->proc)
		return;
	table = worker_proc_table(dev->proc);
	device_read_beat(dev);
	device_read_use(dev);
	sessions_read(d->sessions, dev, dev->beat.mono_ns[WORKER_RAIL]);
	rails_read(d->rails, dev->name, table, &dev->classes);
	new_round = device_round_read(&dev->round, table, l->scratch);
	device_totals_read(&dev->totals, table, new_round ? l->scratch : NULL);
	if (new_round) {
		counter_news_tell(d->journal, dev, l->scratch);
		view_expect(d, dev->name, l->scratch->ports, l->scratch->n_ports);
		kernel_log_tell(d->kernel_log, &l->scratch->device, clock_now_ns(),
				clock_wall_ns());
		rule_feed(d, dev, l->scratch);
	}
}

static void begin_rails(struct daemon *d)
{
	for (size_t i = 0; i < rails_count(d->rails); i++) {
		struct rail_books *books = rails_get(d->rails, i)->books;

		rail_books_begin(books);
		for (size_t c = 0; c < d->config.n_classes; c++)
			rail_books_ensure(books, d->config.classes[c].name);
	}
}

static void look_at_session(struct daemon *d, struct session *s, uint64_t now_ns)
{
	struct rail *rail = rails_find(d->rails, s->key.rail);

	if (rail && !s->target.loopback)
		rail_books_add(rail->books, s->key.class_name, s->total);
	window_add(&s->window, now_ns, s->total);
	s->books_verdict = verdict_next(s->books_verdict, &d->config.verdict,
					s->was_looked ? s->looked : NULL, s->total);
	memcpy(s->looked, s->total, sizeof(s->looked));
	s->was_looked = true;
	lacks_tell(d, s);
	doubts_tell(d, s);
}

static void settle(struct looker *l)
{
	struct daemon *d = l->daemon;
	struct sessions_context ctx;

	for (size_t i = 0; i < supervisor_count(d->supervisor); i++)
		looker_read_device(l, supervisor_get(d->supervisor, i));
	ctx = daemon_sessions_context(d);
	sessions_settle(d->sessions, &ctx);
	begin_rails(d);
	for (size_t i = 0; i < sessions_count(d->sessions); i++)
		look_at_session(d, sessions_get(d->sessions, i), ctx.now_ns);
	for (size_t i = 0; i < rails_count(d->rails); i++)
		rail_books_settle(rails_get(d->rails, i)->books);
}

/* --- telling --- */

static void tell_status(struct daemon *d, const struct snapshot *s)
{
	char text[STATUS_TEXT];
	size_t up = 0;

	for (size_t i = 0; i < s->n_sessions; i++)
		up += s->sessions[i].state == SESSION_UP;
	snprintf(text, sizeof(text), "%s: %zu of %zu sessions up%s%s", verdict_name(s->verdict), up,
		 s->n_sessions, s->reason[0] ? "; " : "", s->reason);
	notify_status(d->notify, text);
}

static void judge(struct looker *l, struct snapshot *s, const struct view_judged *judged)
{
	struct judge_input in = {
		.sessions = judged->sessions,
		.devices = judged->devices,
		.duplicates = judged->duplicates,
		.n_duplicates = judged->n_duplicates,
		.refusals = judged->refusals,
		.n_refusals = judged->n_refusals,
		.subnets = judged->subnets,
		.n_subnets = judged->n_subnets,
		.ok_after = l->daemon->config.verdict.ok_after,
	};

	judge_run(l->judge, &in, s);
	fabric_describe(s, &l->words);
	/* While we stop, what our own sessions miss is nobody's fault. */
	for (size_t i = 0; !l->daemon->stopper && i < s->n_sessions; i++)
		if (judged->of[i]->judged.changed)
			verdict_log_change(l->daemon->journal, &s->sessions[i], judged->of[i]);
	if (!l->daemon->stopper) {
		rule_log_changes(l->daemon->journal, l->last, s);
		verdict_log_host(l->daemon->journal, l->last, s);
	}
	for (size_t i = 0; i < s->n_sessions; i++)
		if (!s->sessions[i].reason[0])
			s->sessions[i].reason = lacks_words(s, judged->of[i]);
}

void looker_look(struct looker *l)
{
	struct view_judged judged = {0};
	uint64_t begun_ns = clock_now_ns();
	struct snapshot *s;

	loop_timer_disarm(l->timer);
	l->armed = false;
	settle(l);
	s = snapshot_new(l->pool);
	/* Without memory the last one stays, and its age tells. */
	if (!s || !view_fill(s, l->daemon, &judged)) {
		snapshot_unref(s);
		return;
	}
	judge(l, s, &judged);
	snapshot_unref(l->last);
	l->last = s;
	tell_status(l->daemon, s);
	l->ended_ns = clock_now_ns();
	l->cost_ns = l->ended_ns - begun_ns;
}

/* --- when --- */

/* No look settles or judges anything there but rounds of counters. */
static bool is_quiet(const struct daemon *d)
{
	return sessions_count(d->sessions) == 0 && rails_count(d->rails) == 0 && !d->kernel_log &&
	       !d->stopper;
}

/* What no message of a worker tells: a new round, and that the last one is too old by now. */
static bool has_news(const struct looker *l, uint64_t now_ns)
{
	const struct supervisor *all = l->daemon->supervisor;

	for (size_t i = 0; i < supervisor_count(all); i++) {
		const struct device *dev = supervisor_get(all, i);

		if (!dev->proc)
			continue;
		if (device_round_due(&dev->round, worker_proc_table(dev->proc)) ||
		    device_counters_fresh(dev, now_ns) !=
			    device_counters_fresh(dev, l->last->mono_ns))
			return true;
	}
	return false;
}

void looker_tick(struct looker *l, uint64_t now_ns)
{
	if (!l->last || !is_quiet(l->daemon) || now_ns - l->ended_ns >= PACE_IDLE_NS ||
	    has_news(l, now_ns))
		looker_look(l);
}

static void on_timer(void *arg, uint64_t now_ns)
{
	(void)now_ns;
	looker_look(arg);
}

void looker_soon(struct looker *l)
{
	if (l->armed)
		return;
	l->armed =
		loop_timer_arm(l->timer, pace_next(clock_now_ns(), l->ended_ns, l->cost_ns)) == 0;
}

struct looker *looker_new(struct daemon *d)
{
	struct looker *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->daemon = d;
	l->judge = judge_new();
	l->scratch = calloc(1, sizeof(*l->scratch));
	l->pool = snapshot_pool_new();
	if (l->judge && l->scratch && l->pool)
		l->timer = loop_add_timer(d->loop, on_timer, l);
	if (l->timer)
		return l;
	looker_free(l);
	errno = ENOMEM;
	return NULL;
}

void looker_free(struct looker *l)
{
	if (!l)
		return;
	loop_source_free(l->timer);
	judge_free(l->judge);
	free(l->scratch);
	strbuf_free(&l->words);
	snapshot_unref(l->last);
	snapshot_pool_unref(l->pool);
	free(l);
}

struct snapshot *looker_snapshot(struct looker *l)
{
	if (l->last && is_quiet(l->daemon) && pace_renew(clock_now_ns(), l->ended_ns, l->cost_ns))
		looker_look(l);
	return l->last ? snapshot_ref(l->last) : NULL;
}
