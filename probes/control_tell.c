/* What control tells: facts to main, cells of the table, commands to the rail. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "core/names.h"
#include "probes/control_priv.h"
#include "probes/spsc.h"
#include "probes/table.h"

/* A full queue costs the hint only: the table is the truth. */
static void tell(struct control *c, const struct fact *f)
{
	int r = fact_send(c->p.socket_fd, f);

	if (r == -EPIPE || r == -ECONNRESET)
		c->main_gone = true;
}

void tell_simple(struct control *c, enum fact_type type)
{
	tell(c, &(struct fact){.type = type});
}

void tell_rail(struct control *c, uint32_t rail)
{
	struct control_rail *r = &c->rails[rail];
	struct fact f = {.type = FACT_RAIL, .rail = rail, .number = c->n_rails};

	f.rail_fact = r->fact;
	table_put_rail(c->p.table, rail, &r->fact);
	table_put_rail_totals(c->p.table, rail, &r->totals);
	tell(c, &f);
}

void publish_session(struct control *c, struct session *s)
{
	table_put_conn(c->p.table, s->wish.row, &s->pub);
}

void publish_qps(struct control *c)
{
	table_put_qps(c->p.table, c->n_active, c->n_passive);
}

void tell_session(struct control *c, struct session *s, enum session_state old)
{
	struct fact f = {
		.type = FACT_SESSION,
		.rail = s->wish.rail,
		.row = s->wish.row,
		.session_id = s->wish.id,
		.number = s->pub.state,
		.old = old,
		.conn = s->pub,
	};

	publish_session(c, s);
	name_copy(f.text, sizeof(f.text), s->pub.reason);
	tell(c, &f);
}

void tell_removed(struct control *c, const struct wish_session *w)
{
	/* The row says it too, should the fact be lost. */
	table_put_conn(c->p.table, w->row, &(struct session_conn){.gone_id = w->id});
	tell(c, &(struct fact){
			.type = FACT_REMOVED, .rail = w->rail, .row = w->row, .session_id = w->id});
}

void tell_attention(struct control *c, const struct session *s)
{
	tell(c, &(struct fact){.type = FACT_ATTENTION,
			       .rail = s->wish.rail,
			       .row = s->wish.row,
			       .session_id = s->wish.id});
}

void tell_corrupt(struct control *c, const struct session *s, const struct wire_damage *d)
{
	struct fact f = {.type = FACT_CORRUPT,
			 .rail = s->wish.rail,
			 .row = s->wish.row,
			 .session_id = s->wish.id};

	if (d->untouched)
		snprintf(f.text, sizeof(f.text),
			 "a READ of %u bytes succeeded, but brought nothing", d->len);
	else
		snprintf(f.text, sizeof(f.text),
			 "a READ of %u bytes brought %u wrong ones, the first at %u: 0x%02x, not "
			 "0x%02x",
			 d->len, d->wrong, d->at, d->found, d->expected);
	tell(c, &f);
}

void tell_async(struct control *c, unsigned event, uint32_t port)
{
	table_count_async(c->p.table, port, event);
	tell(c, &(struct fact){.type = FACT_ASYNC, .number = event, .port = port});
}

void tell_drain(struct control *c, const struct conn *conn, enum drain_outcome outcome)
{
	struct control_rail *r = &c->rails[conn->rail];
	struct fact f = {.type = FACT_DRAIN, .rail = conn->rail, .number = outcome};

	r->totals.drains[outcome]++;
	table_put_rail_totals(c->p.table, conn->rail, &r->totals);
	if (conn->session)
		f.session_id = conn->session->wish.id;
	snprintf(f.text, sizeof(f.text), "%s QP %u",
		 conn->rc.role == CONN_ACTIVE ? "active" : "passive", conn->rc.qpn);
	/* Attempts at a dead peer end every few seconds: counted, but no event. */
	if (conn->established || outcome == DRAIN_TIMEOUT)
		tell(c, &f);
}

void tell_device(struct control *c, const char *text)
{
	struct fact f = {.type = FACT_DEVICE};

	if (!strcmp(text, c->device_reason))
		return;
	name_copy(c->device_reason, sizeof(c->device_reason), text);
	name_copy(f.text, sizeof(f.text), text);
	tell(c, &f);
}

void tell_duplicate(struct control *c, const struct conn *older, const char *text)
{
	struct fact f = {.type = FACT_DUPLICATE, .rail = older->rail, .host_hash = older->key.host};

	if (older->greeted)
		name_copy(f.host, sizeof(f.host), older->rc.hello_in.host);
	name_copy(f.text, sizeof(f.text), text);
	tell(c, &f);
}

/* Names come from the list alone, so a session keeps its name whoever answers. That an address has
 * moved to another host must be told all the same. */
void tell_answered(struct control *c, struct session *s, const char *host)
{
	struct fact f = {.type = FACT_ANSWERED,
			 .rail = s->wish.rail,
			 .row = s->wish.row,
			 .session_id = s->wish.id};
	bool other = strcmp(host, s->wish.peer) != 0;

	if (!other && !s->other_told)
		return;
	s->other_told = other;
	if (other)
		name_copy(f.host, sizeof(f.host), host);
	tell(c, &f);
}

void tell_stalled(struct control *c, bool stalled)
{
	if (c->stalled == stalled)
		return;
	c->stalled = stalled;
	tell(c, &(struct fact){.type = FACT_STALLED, .number = stalled});
}

void tell_refused(struct control *c, enum wire_reject why, const struct refused *who,
		  const char *text)
{
	struct fact f = {.type = FACT_REFUSED,
			 .rail = who->rail,
			 .number = why,
			 .host_hash = who->host_hash};

	name_copy(f.host, sizeof(f.host), who->host);
	name_copy(f.text, sizeof(f.text), text);
	tell(c, &f);
}

void command(struct control *c, const struct rail_cmd *cmd)
{
	while (!spsc_push(c->p.commands, cmd))
		sched_yield();
}

void command_conn(struct control *c, enum rail_cmd_type type, struct conn *conn, uint32_t value)
{
	command(c, &(struct rail_cmd){.type = type, .conn = &conn->rc, .value = value});
}
