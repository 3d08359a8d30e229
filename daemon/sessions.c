#include "daemon/sessions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/hash.h"
#include "core/names.h"
#include "daemon/config.h"
#include "daemon/rows.h"
#include "daemon/supervisor.h"

struct device_rows {
	char device[FACT_NAME];
	struct rows *rows;
};

struct sessions {
	struct session **list; /* sorted by key; wanted before unwanted */
	size_t n, cap;
	struct device_rows rows[SUPERVISOR_MAX];
	size_t n_rows;
	uint64_t last_id;
};

struct sessions *sessions_new(void)
{
	return calloc(1, sizeof(struct sessions));
}

static void session_free(struct session *session)
{
	free(session->hist);
	free(session);
}

void sessions_free(struct sessions *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		session_free(s->list[i]);
	for (size_t i = 0; i < s->n_rows; i++)
		rows_free(s->rows[i].rows);
	free(s->list);
	free(s);
}

size_t sessions_count(const struct sessions *s)
{
	return s->n;
}

struct session *sessions_get(const struct sessions *s, size_t i)
{
	return s->list[i];
}

static struct rows *rows_of(const struct sessions *s, const char *device)
{
	for (size_t i = 0; i < s->n_rows; i++)
		if (strcmp(s->rows[i].device, device) == 0)
			return s->rows[i].rows;
	return NULL;
}

/* Rows of a device that is forgotten are taken over by the next new one. */
static struct rows *rows_for(struct sessions *s, const struct device *d,
			     const struct supervisor *supervisor)
{
	struct rows *rows = rows_of(s, d->name);
	struct device_rows *slot = NULL;

	if (rows)
		return rows;
	for (size_t i = 0; i < s->n_rows && !slot; i++)
		if (!supervisor_find(supervisor, s->rows[i].device))
			slot = &s->rows[i];
	if (!slot && s->n_rows < SUPERVISOR_MAX)
		slot = &s->rows[s->n_rows];
	if (!slot)
		return NULL;
	rows = rows_new(d->ctx->layout.sessions);
	if (!rows)
		return NULL;
	if (slot == &s->rows[s->n_rows])
		s->n_rows++;
	rows_free(slot->rows);
	slot->rows = rows;
	name_copy(slot->device, sizeof(slot->device), d->name);
	return rows;
}

struct session *sessions_in_row(const struct sessions *s, const char *device, uint32_t row,
				uint64_t id)
{
	const struct rows *rows = rows_of(s, device);
	struct session *session = rows ? rows_at(rows, row) : NULL;

	return session && session->id == id ? session : NULL;
}

static int session_cmp(const void *a, const void *b)
{
	const struct session *sa = *(struct session *const *)a, *sb = *(struct session *const *)b;
	int r = session_key_cmp(&sa->key, &sb->key);

	if (r != 0)
		return r;
	if (sa->wanted != sb->wanted)
		return sa->wanted ? -1 : 1;
	return sa->id < sb->id ? -1 : sa->id > sb->id;
}

static void sort(struct sessions *s)
{
	if (s->n > 0)
		qsort(s->list, s->n, sizeof(s->list[0]), session_cmp);
}

static int append(struct sessions *s, struct session *session)
{
	if (s->n == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 64;
		struct session **list = reallocarray(s->list, cap, sizeof(*list));

		if (!list)
			return -ENOMEM;
		s->list = list;
		s->cap = cap;
	}
	s->list[s->n++] = session;
	return 0;
}

static int add(struct sessions *s, const struct plan_entry *e, uint64_t wall_ns)
{
	struct session *session = calloc(1, sizeof(*session));

	if (!session)
		return -ENOMEM;
	if (append(s, session) < 0) {
		free(session);
		return -ENOMEM;
	}
	session->id = ++s->last_id;
	session->key = e->key;
	session->target = *e->target;
	session->class_index = e->class_index;
	name_copy(session->device, sizeof(session->device), e->device);
	session->wanted = true;
	session->since_wall_ns = wall_ns;
	session->books_verdict = VERDICT_UNKNOWN;
	session->row_look = (struct row_look){ROW_NOT_YET, 0};
	books_init(&session->books, session->id);
	return 0;
}

/* --- going --- */

static void tell_to_leave(struct session *session, enum abort_reason why,
			  const struct sessions_context *ctx)
{
	struct device *d = supervisor_find(ctx->supervisor, session->device);
	struct wish wish = {.type = WISH_SESSION_REMOVE};

	if (session->phase != PHASE_PLACED)
		return;
	session->phase = PHASE_LEAVING;
	if (!d || !d->proc)
		return;
	wish.session.id = session->id;
	wish.session.row = session->row;
	wish.session.class_index = session->class_index;
	wish.session.reason = why;
	worker_proc_send(d->proc, &wish);
}

/* Its counts go on in those of the rail. */
static void retire(struct session *session, const struct sessions_context *ctx)
{
	struct rail *rail = rails_find(ctx->rails, session->key.rail);

	books_total(&session->books, session->total);
	if (rail && !session->target.loopback)
		rail_books_retire(rail->books, session->key.class_name, session->total,
				  ABORT_DRAIN);
}

static void drop_finished(struct sessions *s, const struct sessions_context *ctx)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n; i++) {
		struct session *session = s->list[i];

		if (session->wanted || session->phase != PHASE_UNPLACED) {
			s->list[kept++] = session;
			continue;
		}
		retire(session, ctx);
		session_free(session);
	}
	s->n = kept;
}

static void rebuild(struct sessions *s, struct session *session, enum abort_reason why,
		    const struct sessions_context *ctx)
{
	if (session->phase == PHASE_PLACED)
		tell_to_leave(session, why, ctx);
	else if (session->phase == PHASE_UNPLACED && !session->disabled)
		books_rebuild(&session->books, session->id = ++s->last_id);
}

void sessions_rebuild(struct sessions *s, const struct sessions_context *ctx)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->list[i]->wanted)
			rebuild(s, s->list[i], ABORT_RELOAD, ctx);
}

/* --- following the plan --- */

static void follow_limit(struct session *session, const struct plan_entry *e,
			 const struct sessions_context *ctx)
{
	if (session->disabled != e->disabled)
		session->since_wall_ns = ctx->wall_ns;
	session->disabled = e->disabled;
	name_copy(session->disabled_reason, sizeof(session->disabled_reason), e->reason);
	if (session->disabled)
		tell_to_leave(session, ABORT_DRAIN, ctx);
}

/* What is placed keeps the device of its row until that is final; unplace() takes the new one. */
static void follow_entry(struct sessions *s, struct session *session, const struct plan_entry *e,
			 const struct sessions_context *ctx)
{
	bool moved = strcmp(session->device, e->device) != 0;
	bool changed = moved || session->class_index != e->class_index ||
		       !address_equal(&session->target.address, &e->target->address);

	if (changed && session->phase == PHASE_PLACED)
		rebuild(s, session, ABORT_RELOAD, ctx);
	if (session->phase == PHASE_UNPLACED)
		name_copy(session->device, sizeof(session->device), e->device);
	session->target = *e->target;
	session->class_index = e->class_index;
	follow_limit(session, e, ctx);
}

static int match(const struct sessions *s, const struct plan *plan, struct session **have,
		 ssize_t *ret_have, bool *ret_wanted)
{
	const struct session_key **keys = calloc(s->n + 1, sizeof(*keys));
	size_t n = 0;

	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < s->n; i++) {
		if (!s->list[i]->wanted)
			continue;
		have[n] = s->list[i];
		keys[n++] = &s->list[i]->key;
	}
	plan_match(plan, keys, n, ret_have, ret_wanted);
	free(keys);
	return (int)n;
}

static int follow(struct sessions *s, const struct plan *plan, const struct sessions_context *ctx,
		  struct session **have, ssize_t *of_entry, bool *wanted)
{
	int n_have = match(s, plan, have, of_entry, wanted), r = 0;

	if (n_have < 0)
		return n_have;
	for (int i = 0; i < n_have; i++) {
		if (wanted[i])
			continue;
		have[i]->wanted = false;
		tell_to_leave(have[i], ABORT_DRAIN, ctx);
	}
	for (size_t i = 0; i < plan->n && r == 0; i++) {
		if (of_entry[i] >= 0)
			follow_entry(s, have[of_entry[i]], &plan->entries[i], ctx);
		else
			r = add(s, &plan->entries[i], ctx->wall_ns);
		if (r == 0 && of_entry[i] < 0)
			follow_limit(s->list[s->n - 1], &plan->entries[i], ctx);
	}
	return r;
}

int sessions_follow(struct sessions *s, const struct plan *plan, const struct sessions_context *ctx)
{
	struct session **have = calloc(s->n + 1, sizeof(*have));
	ssize_t *of_entry = calloc(plan->n + 1, sizeof(*of_entry));
	bool *wanted = calloc(s->n + 1, sizeof(*wanted));
	int r = -ENOMEM;

	if (have && of_entry && wanted)
		r = follow(s, plan, ctx, have, of_entry, wanted);
	free(have);
	free(of_entry);
	free(wanted);
	drop_finished(s, ctx);
	sort(s);
	return r;
}

/* --- rows --- */

static bool place(struct sessions *s, struct session *session, struct device *d,
		  const struct rail *rail, const struct sessions_context *ctx)
{
	struct rows *rows = rows_for(s, d, ctx->supervisor);
	struct wish wish = {.type = WISH_SESSION_ADD};
	uint32_t row = rows ? rows_take(rows, session) : ROW_NONE;

	if (row == ROW_NONE)
		return false;
	session->phase = PHASE_PLACED;
	session->row = row;
	session->conn_seen = session->row_freed = false;
	wish.session.id = session->id;
	wish.session.row = row;
	wish.session.rail = rail->index;
	wish.session.class_index = session->class_index;
	wish.session.loopback = session->target.loopback;
	name_copy(wish.session.peer, FACT_NAME, session->key.peer);
	name_copy(wish.session.peer_rail, FACT_NAME, session->key.peer_rail);
	memcpy(&wish.session.address, &session->target.address, sizeof(wish.session.address));
	worker_proc_send(d->proc, &wish);
	return true;
}

void sessions_place(struct sessions *s, struct device *d, const struct sessions_context *ctx)
{
	if (!d->proc || d->stopping)
		return;
	for (size_t i = 0; i < s->n; i++) {
		struct session *session = s->list[i];
		const struct rail *rail;

		if (!session->wanted || session->disabled || session->phase != PHASE_UNPLACED ||
		    strcmp(session->device, d->name) != 0)
			continue;
		rail = rails_find(ctx->rails, session->key.rail);
		if (!rail || !rail->present || strcmp(rail->device, d->name) != 0)
			continue;
		/* No row left: some are still draining; their end brings us here again. */
		if (!place(s, session, d, rail, ctx))
			return;
	}
}

void session_take_conn(struct session *session, const struct session_conn *conn)
{
	if (conn->session_id != session->id)
		return;
	session->conn = *conn;
	session->conn_seen = true;
	if (conn->state == SESSION_UP)
		session->last_up = *conn;
	if (conn->error.wall_ns)
		session->error = conn->error;
}

/* Main makes a session's histogram of the samples of the last minute, which it reads every second:
 * the probe path pays nothing for it. */
static void take_hist(struct session *session, const struct table *table)
{
	uint64_t v[SAMPLES_MAX];

	if (!session->hist)
		return;
	if (session->hist_id != session->id) {
		session->hist_id = session->id;
		memset(session->hist_at, 0, sizeof(session->hist_at));
	}
	for (unsigned op = 0; op < OP_COUNT; op++) {
		uint32_t n = table_take_samples(table, session->row, op, &session->hist_at[op], v);

		for (uint32_t i = 0; i < n; i++)
			hist_add(&session->hist[op], v[i]);
	}
}

static void read_row(struct session *session, const struct table *table)
{
	struct session_conn conn;
	struct session_books row;

	if (table_get_conn(table, session->row, &conn)) {
		session->row_freed = !conn.session_id && conn.gone_id == session->id;
		session_take_conn(session, &conn);
	}
	if (!table_get_books(table, session->row, &row))
		return;
	session->row_look = books_live(&session->books, &row);
	if (session->row_look.word == ROW_TAKEN)
		take_hist(session, table);
}

void sessions_read(struct sessions *s, const struct device *d, uint64_t rail_beat_ns)
{
	const struct table *table = worker_proc_table(d->proc);
	uint64_t now_ns;

	for (size_t i = 0; i < s->n; i++)
		if (s->list[i]->phase != PHASE_UNPLACED && strcmp(s->list[i]->device, d->name) == 0)
			read_row(s->list[i], table);
	now_ns = clock_now_ns();
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->list[i]->device, d->name) == 0)
			books_derive_stuck(&s->list[i]->books, now_ns, rail_beat_ns);
}

/* The device of its rail was never seen, or let go before it was, or the schedule changed
 * meanwhile: what is due all the same follows from the configuration. The phase is the session's
 * own, so that not all are due at once. */
static void begin_absent(struct session *session, const struct sessions_context *ctx)
{
	uint64_t interval_ns[OP_COUNT] = {0};
	uint64_t phase = hash_str(session->key.peer) * 31 + hash_str(session->key.rail);

	for (unsigned op = 0; op < OP_COUNT; op++)
		interval_ns[op] = ctx->config->op[op].interval_ns;
	books_begin(&session->books, interval_ns, phase, ctx->now_ns);
}

static bool rail_never_seen(const struct session *session, const struct sessions_context *ctx)
{
	const struct rail *rail = rails_find(ctx->rails, session->key.rail);

	return rail && rail->device[0] == '\0';
}

static bool is_absent(const struct session *session, const struct device *d,
		      const struct sessions_context *ctx)
{
	return !d || !d->present || d->released || rail_never_seen(session, ctx);
}

static void settle_gone(struct session *session, const struct device *d,
			const struct sessions_context *ctx)
{
	bool absent = is_absent(session, d, ctx);

	if (absent && ctx->settled && session->phase == PHASE_UNPLACED)
		begin_absent(session, ctx);
	books_derive_gone(&session->books, ctx->now_ns,
			  absent ? SKIP_DEVICE_ABSENT : SKIP_WORKER_STUCK);
}

/* Without memory there is none this time. */
static void want_hist(struct session *session, bool wanted)
{
	if (wanted && !session->hist) {
		session->hist = calloc(OP_COUNT, sizeof(*session->hist));
		session->hist_id = 0;
	} else if (!wanted && session->hist) {
		free(session->hist);
		session->hist = NULL;
	}
}

void sessions_settle(struct sessions *s, const struct sessions_context *ctx)
{
	for (size_t i = 0; i < s->n; i++) {
		struct session *session = s->list[i];
		const struct device *d = supervisor_find(ctx->supervisor, session->device);

		want_hist(session, ctx->config->per_peer == CONFIG_PER_PEER_HISTOGRAM);
		session->released = d && d->released;
		if (session->wanted && !session->disabled)
			settle_gone(session, d, ctx);
		books_total(&session->books, session->total);
	}
}

/* The row is final or gone: the session is free to be placed again, or done with. */
static void unplace(struct sessions *s, struct session *session, const struct sessions_context *ctx)
{
	const struct rail *rail = rails_find(ctx->rails, session->key.rail);

	if (session->phase == PHASE_LEAVING) {
		session->id = ++s->last_id;
		books_rebuild(&session->books, session->id);
	} else {
		books_fold(&session->books);
	}
	session->phase = PHASE_UNPLACED;
	session->conn_seen = false;
	session->since_wall_ns = ctx->wall_ns;
	/* The rail may have moved to another device meanwhile. */
	if (rail && rail->device[0] != '\0')
		name_copy(session->device, sizeof(session->device), rail->device);
}

void sessions_removed(struct sessions *s, struct device *d, uint32_t row, uint64_t id,
		      const struct sessions_context *ctx)
{
	struct session *session = sessions_in_row(s, d->name, row, id);

	if (!session || session->phase != PHASE_LEAVING)
		return;
	read_row(session, worker_proc_table(d->proc));
	rows_release(rows_of(s, d->name), row);
	unplace(s, session, ctx);
	drop_finished(s, ctx);
	sessions_place(s, d, ctx);
}

/* A fact may be lost when many come at once; the table is not. What the worker could not add is
 * gone likewise, and gets another id, so that what the row says of this one ends here. */
void sessions_sweep(struct sessions *s, struct device *d, const struct sessions_context *ctx)
{
	uint32_t n = d->ctx->layout.sessions;

	if (!rows_of(s, d->name)) /* it never had a session */
		return;
	for (uint32_t row = 0; d->proc && row < n; row++) {
		const struct rows *rows = rows_of(s, d->name);
		struct session *session = rows ? rows_at(rows, row) : NULL;

		if (!session || !session->row_freed)
			continue;
		session->phase = PHASE_LEAVING;
		sessions_removed(s, d, row, session->id, ctx);
	}
}

void sessions_worker_ended(struct sessions *s, const struct device *d,
			   const struct sessions_context *ctx)
{
	struct rows *rows = rows_of(s, d->name);

	for (size_t i = 0; i < s->n; i++) {
		struct session *session = s->list[i];

		if (session->phase == PHASE_UNPLACED || strcmp(session->device, d->name) != 0)
			continue;
		read_row(session, worker_proc_table(d->proc));
		unplace(s, session, ctx);
	}
	if (rows)
		rows_release_all(rows);
	drop_finished(s, ctx);
}

enum session_state session_shown_state(const struct session *s, uint64_t *ret_since_wall_ns)
{
	*ret_since_wall_ns = s->since_wall_ns;
	if (s->disabled || (s->released && s->phase == PHASE_UNPLACED))
		return SESSION_DISABLED;
	if (s->phase == PHASE_UNPLACED || !s->conn_seen)
		return SESSION_IDLE;
	*ret_since_wall_ns = s->conn.since_wall_ns;
	return (enum session_state)s->conn.state;
}
