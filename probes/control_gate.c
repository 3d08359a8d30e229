/* Who may come in. A request costs a look at its source address first: a flood of strangers is
 * refused for little, and told about in few words. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/control_priv.h"
#include "probes/table.h"

#define HALF_OPEN_MAX 128    /* connections that have not said hello yet */
#define HALF_OPEN_OF_PEER 32 /* of those, from one address */
#define TELL_EVERY_NS (10 * NSEC_PER_SEC)
#define TELL_SECRETS 64 /* of one reason in that time: each may be another peer of the list */

/* --- the list --- */

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct in6_addr));
}

void gate_take_accept(struct control *c, const struct wish_accept *a)
{
	uint32_t n = a->first ? 0 : c->n_accept;
	struct in6_addr *list = realloc(c->accept, (n + a->n + 1) * sizeof(*list));

	if (!list)
		return;
	if (a->first)
		c->n_listed = 0;
	memcpy(list + n, a->address, a->n * sizeof(*list));
	c->accept = list;
	c->n_accept = n + a->n;
	if (!a->own)
		c->n_listed = c->n_accept;
	free(c->sorted);
	c->sorted = NULL;
	rails_rescan_soon(c, 0); /* a listed address is the better source */
}

/* By number, so that each of many strangers costs little. */
static void sort_list(struct control *c)
{
	c->sorted = malloc((c->n_accept + 1) * sizeof(*c->sorted));
	if (!c->sorted)
		return;
	if (c->n_accept)
		memcpy(c->sorted, c->accept, c->n_accept * sizeof(*c->sorted));
	qsort(c->sorted, c->n_accept, sizeof(*c->sorted), compare);
}

static bool listed(struct control *c, const struct in6_addr *peer)
{
	if (c->cfg.accept_any)
		return true;
	if (!c->sorted)
		sort_list(c);
	return c->sorted &&
	       bsearch(peer, c->sorted, c->n_accept, sizeof(*c->sorted), compare) != NULL;
}

/* --- room --- */

/* Own sessions keep their places also while they are not connected: whoever comes in must not lock
 * them out. */
static bool has_room(const struct control *c)
{
	uint32_t own = c->n_active > c->n_sessions ? c->n_active : c->n_sessions;

	return own + c->n_passive < c->cfg.qps_per_device;
}

static bool half_open(const struct conn *conn)
{
	return conn->rc.role == CONN_PASSIVE && !conn->greeted &&
	       (conn->phase == CONN_OPENING || conn->phase == CONN_LIVE);
}

/* Who knocks without end and never says hello takes no place from those who do. */
static bool too_many_half_open(const struct control *c, const struct in6_addr *peer)
{
	uint32_t all = 0, same = 0;

	for (const struct conn *conn = c->conns; conn; conn = conn->next) {
		if (!half_open(conn))
			continue;
		all++;
		same += IN6_ARE_ADDR_EQUAL(&conn->peer, peer);
	}
	return all >= HALF_OPEN_MAX || same >= HALF_OPEN_OF_PEER;
}

/* At the cap a peer that comes back finds its place taken by what it left behind: that goes now,
 * and the next try succeeds. */
static void make_room(struct control *c, const struct in6_addr *peer, const struct passive_key *key)
{
	struct conn *next;

	for (struct conn *old = c->conns; old; old = next) {
		next = old->next;
		if (old->rc.role == CONN_PASSIVE && old->phase == CONN_LIVE &&
		    IN6_ARE_ADDR_EQUAL(&old->peer, peer) && passive_key_equal(&old->key, key))
			conn_drain(c, old, ABORT_FLUSHED, false);
	}
}

/* --- the verdict --- */

static bool refuse(enum refuse_reason why, enum refuse_reason *ret)
{
	*ret = why;
	return false;
}

bool gate_judge(struct control *c, const struct rdma_cm_event *ev, const struct in6_addr *peer,
		struct wire_request *ret, enum refuse_reason *ret_why)
{
	enum wire_result r;

	if (!listed(c, peer))
		return refuse(REFUSE_NOT_LISTED, ret_why);
	if (c->stopping)
		return refuse(REFUSE_LEAVING, ret_why);
	r = wire_get_request(ev->param.conn.private_data, ev->param.conn.private_data_len, ret);
	if (r != WIRE_OK)
		return refuse(r == WIRE_TOO_OLD ? REFUSE_VERSION : REFUSE_MALFORMED, ret_why);
	if (ret->has_secret != c->cfg.has_secret)
		return refuse(c->cfg.has_secret ? REFUSE_SECRET_MISSING : REFUSE_SECRET_UNKNOWN,
			      ret_why);
	if (too_many_half_open(c, peer))
		return refuse(REFUSE_HALF_OPEN, ret_why);
	return true;
}

bool gate_has_room(struct control *c, const struct in6_addr *peer, const struct passive_key *key)
{
	if (has_room(c))
		return true;
	make_room(c, peer, key);
	return false;
}

/* --- telling --- */

static bool is_about_secret(enum refuse_reason why)
{
	return why == REFUSE_SECRET_MISSING || why == REFUSE_SECRET_UNKNOWN ||
	       why == REFUSE_SECRET_DIFFERS;
}

enum wire_reject gate_reject(enum refuse_reason why)
{
	switch (why) {
	case REFUSE_MALFORMED:
	case REFUSE_HELLO:
		return WIRE_REJECT_MALFORMED;
	case REFUSE_VERSION:
		return WIRE_REJECT_VERSION;
	case REFUSE_NOT_LISTED:
		return WIRE_REJECT_NOT_LISTED;
	case REFUSE_CAP:
	case REFUSE_HALF_OPEN:
	case REFUSE_NO_RESOURCES:
		return WIRE_REJECT_NO_RESOURCES;
	case REFUSE_LEAVING:
		return WIRE_REJECT_LEAVING;
	case REFUSE_SECRET_MISSING:
		return WIRE_REJECT_SECRET_WANTED;
	case REFUSE_SECRET_UNKNOWN:
		return WIRE_REJECT_NO_SECRET;
	case REFUSE_SECRET_DIFFERS:
		return WIRE_REJECT_SECRET_DIFFERS;
	}
	return WIRE_REJECT_NONE;
}

/* "": worth a count, no line. */
static const char *words(enum refuse_reason why)
{
	switch (why) {
	case REFUSE_LEAVING:
	case REFUSE_HELLO:
		break;
	case REFUSE_MALFORMED:
		return "its request is none of ours";
	case REFUSE_VERSION:
		return "its version is too old";
	case REFUSE_NOT_LISTED:
		return "its address is not in the peer list";
	case REFUSE_CAP:
		return "all queue pairs are taken ([limits] qps_per_device)";
	case REFUSE_HALF_OPEN:
		return "too many have connected and not said hello yet";
	case REFUSE_NO_RESOURCES:
		return "there is no queue pair or memory left for it";
	case REFUSE_SECRET_MISSING:
		return "it has no shared secret, and this host has one";
	case REFUSE_SECRET_UNKNOWN:
		return "it has a shared secret, and this host has none";
	case REFUSE_SECRET_DIFFERS:
		return "its shared secret is another one than this host's";
	}
	return "";
}

void gate_count(struct control *c, enum refuse_reason why, uint32_t rail)
{
	struct control_rail *r = &c->rails[rail];

	r->totals.refused[why]++;
	table_put_rail_totals(c->p.table, rail, &r->totals);
}

/* Whether it is worth a line; *ret_more: those that were not since the last one. */
static bool worth_telling(struct control *c, enum refuse_reason why, uint32_t *ret_more)
{
	struct gate_limit *l = &c->refusals[why];
	uint64_t now = c->p.now_ns();

	if (!l->since_ns || now >= l->since_ns + TELL_EVERY_NS)
		*l = (struct gate_limit){.since_ns = now, .held = l->held};
	if (l->told >= (is_about_secret(why) ? TELL_SECRETS : 1)) {
		l->held++;
		return false;
	}
	l->told++;
	*ret_more = l->held;
	l->held = 0;
	return true;
}

void gate_tell(struct control *c, enum refuse_reason why, const struct refused *who)
{
	char address[FACT_ADDRESS], more[48] = "", text[FACT_TEXT];
	uint32_t n;

	gate_count(c, why, who->rail);
	if (!words(why)[0] || !worth_telling(c, why, &n))
		return;
	if (n)
		snprintf(more, sizeof(more), " (and %u more like it)", n);
	rail_address_text(&who->address, address);
	snprintf(text, sizeof(text), "%s is refused: %s%s", address, words(why), more);
	tell_refused(c, gate_reject(why), who, text);
}
