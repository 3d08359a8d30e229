/* Whose turn it is to connect. Attempts are few at a time, for rdma_cm works through them one by
 * one, and most of those at dead peers end by running out of time: hundreds of them must not
 * keep waiting one that is new, nor one of their own number that has come back. */
#include "probes/control_priv.h"

#define RATE 250 /* attempts a second on a rail that may begin, once the bucket is empty */
#define BUCKET_NS (NSEC_PER_SEC) /* holds so much time's worth of them */
#define ATTEMPT_COST_NS (NSEC_PER_SEC / RATE)
#define DEAD_COST_NS (4 * ATTEMPT_COST_NS)
#define DEAD_LEAVES_NS (BUCKET_NS / 2) /* of the bucket, for those that are new */

/* How long an attempt keeps its turn when others wait for it. A peer that lives answers in
 * milliseconds; one in trouble gets more time every eighth try, and all of it when nobody waits. */
#define FRESH_TURN_NS (2 * NSEC_PER_SEC)
#define DEAD_TURN_NS (500 * NSEC_PER_MSEC)
#define LONG_TURN_EVERY 8

/* --- lists --- */

static void list_add(struct turn_list *l, struct session *s)
{
	s->turn_next = NULL;
	s->turn_link = l->n ? l->last : &l->first;
	*s->turn_link = s;
	l->last = &s->turn_next;
	l->n++;
}

static void list_remove(struct turn_list *l, struct session *s)
{
	*s->turn_link = s->turn_next;
	if (s->turn_next)
		s->turn_next->turn_link = s->turn_link;
	else
		l->last = s->turn_link;
	l->n--;
}

/* --- a session's place --- */

void turn_wait(struct control *c, struct session *s)
{
	if (s->turn != TURN_NONE || c->stopping)
		return;
	s->pool = s->attempt ? POOL_DEAD : POOL_FRESH;
	s->turn = TURN_WAITS;
	list_add(&c->pools[s->pool].waiting, s);
}

void turn_end(struct control *c, struct session *s)
{
	struct turn_pool *p = &c->pools[s->pool];

	if (s->turn != TURN_NONE)
		list_remove(s->turn == TURN_WAITS ? &p->waiting : &p->flying, s);
	s->turn = TURN_NONE;
}

void turn_refresh(struct control *c, struct session *s)
{
	if (s->turn != TURN_WAITS)
		return;
	turn_end(c, s);
	turn_wait(c, s);
}

/* --- the bucket --- */

static void fill_bucket(struct control_rail *r, uint64_t now)
{
	uint64_t more = now - r->bucket_at_ns;

	r->bucket_ns = more > BUCKET_NS - r->bucket_ns ? BUCKET_NS : r->bucket_ns + more;
	r->bucket_at_ns = now;
}

/* What the rail's bucket must hold for the attempt to begin. */
static uint64_t bucket_needed(const struct session *s)
{
	return s->pool == POOL_DEAD ? DEAD_LEAVES_NS + DEAD_COST_NS : ATTEMPT_COST_NS;
}

static void take_from_bucket(struct control_rail *r, const struct session *s)
{
	r->bucket_ns -= s->pool == POOL_DEAD ? DEAD_COST_NS : ATTEMPT_COST_NS;
}

/* --- turns --- */

static uint32_t share_of(const struct control *c, enum turn_pool_kind kind)
{
	uint32_t half = c->cfg.connects > 1 ? c->cfg.connects / 2 : 1;

	return kind == POOL_DEAD ? half : c->cfg.connects;
}

static bool full(const struct control *c, enum turn_pool_kind kind)
{
	return c->pools[kind].flying.n >= share_of(c, kind) ||
	       c->pools[POOL_FRESH].flying.n + c->pools[POOL_DEAD].flying.n >= c->cfg.connects;
}

/* It could begin if there were a free turn. */
static bool is_able(const struct control *c, const struct session *s)
{
	return !s->conn && c->rails[s->wish.rail].fact.up;
}

static uint64_t begin_waiting(struct control *c, enum turn_pool_kind kind, uint64_t now)
{
	uint64_t next = TIMER_NEVER;
	struct session *after;

	for (struct session *s = c->pools[kind].waiting.first; s && !full(c, kind); s = after) {
		struct control_rail *r = &c->rails[s->wish.rail];

		after = s->turn_next;
		if (!is_able(c, s))
			continue;
		fill_bucket(r, now);
		if (r->bucket_ns < bucket_needed(s)) {
			uint64_t at = now + bucket_needed(s) - r->bucket_ns;

			next = at < next ? at : next;
			continue;
		}
		take_from_bucket(r, s);
		turn_end(c, s);
		s->turn = TURN_FLIES;
		s->turn_ns = now;
		list_add(&c->pools[kind].flying, s);
		session_start(c, s);
	}
	return next;
}

static bool anybody_able(const struct control *c, enum turn_pool_kind kind)
{
	for (const struct session *s = c->pools[kind].waiting.first; s; s = s->turn_next)
		if (is_able(c, s))
			return true;
	return false;
}

static uint64_t turn_length(const struct session *s)
{
	return s->pool == POOL_FRESH || s->attempt % LONG_TURN_EVERY == 0 ? FRESH_TURN_NS
									  : DEAD_TURN_NS;
}

/* Those whose request got no answer give way to those that wait. While they still resolve they
 * end by themselves soon; once the peer has answered they are as good as up. When the next one
 * would have to. */
static uint64_t end_overlong(struct control *c, enum turn_pool_kind kind, uint64_t now)
{
	uint64_t next = TIMER_NEVER;
	struct session *after;

	if (!full(c, kind) || !anybody_able(c, kind))
		return next;
	for (struct session *s = c->pools[kind].flying.first; s; s = after) {
		uint64_t at = s->turn_ns + turn_length(s);

		after = s->turn_next;
		if (s->pub.state != SESSION_CONNECTING || !s->conn || s->conn->established)
			continue;
		if (at <= now)
			session_connect_failed(c, s, CONNECT_TIMEOUT, 0, NO_ANSWER_TEXT);
		else
			next = at < next ? at : next;
	}
	return next;
}

uint64_t turns_run(struct control *c)
{
	uint64_t now = c->p.now_ns(), next = TIMER_NEVER;

	if (c->stopping || !endpoint_verbs(c->endpoint))
		return next;
	for (unsigned kind = 0; kind < POOL_COUNT; kind++) {
		uint64_t at = end_overlong(c, (enum turn_pool_kind)kind, now);

		next = at < next ? at : next;
		at = begin_waiting(c, (enum turn_pool_kind)kind, now);
		next = at < next ? at : next;
	}
	return next;
}
