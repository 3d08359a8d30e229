/* Who may come in. A request costs a look at its source address first: a flood of strangers is
 * refused for little, and told about in few words. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/control_priv.h"

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

enum wire_reject gate_judge(struct control *c, const struct rdma_cm_event *ev,
			    const struct in6_addr *peer, struct wire_request *ret)
{
	enum wire_result r;

	if (!listed(c, peer))
		return WIRE_REJECT_NOT_LISTED;
	if (c->stopping)
		return WIRE_REJECT_LEAVING;
	r = wire_get_request(ev->param.conn.private_data, ev->param.conn.private_data_len, ret);
	if (r == WIRE_TOO_OLD)
		return WIRE_REJECT_VERSION;
	if (r == WIRE_MALFORMED)
		return WIRE_REJECT_MALFORMED;
	if (ret->has_secret != c->cfg.has_secret)
		return c->cfg.has_secret ? WIRE_REJECT_SECRET_WANTED : WIRE_REJECT_NO_SECRET;
	if (too_many_half_open(c, peer))
		return WIRE_REJECT_NO_RESOURCES;
	return WIRE_REJECT_NONE;
}

bool gate_has_room(struct control *c, const struct in6_addr *peer, const struct passive_key *key)
{
	if (has_room(c))
		return true;
	make_room(c, peer, key);
	return false;
}

/* --- telling --- */

static bool is_about_secret(enum wire_reject why)
{
	return why == WIRE_REJECT_SECRET_WANTED || why == WIRE_REJECT_NO_SECRET ||
	       why == WIRE_REJECT_SECRET_DIFFERS;
}

static const char *words(enum wire_reject why)
{
	switch (why) {
	case WIRE_REJECT_NONE:
	case WIRE_REJECT_LEAVING:
		break;
	case WIRE_REJECT_MALFORMED:
		return "its request is none of ours";
	case WIRE_REJECT_VERSION:
		return "its version is too old";
	case WIRE_REJECT_NOT_LISTED:
		return "its address is not in the peer list";
	case WIRE_REJECT_NO_RESOURCES:
		return "there is no queue pair, memory or place left for it";
	case WIRE_REJECT_SECRET_WANTED:
		return "it has no shared secret, and this host has one";
	case WIRE_REJECT_NO_SECRET:
		return "it has a shared secret, and this host has none";
	case WIRE_REJECT_SECRET_DIFFERS:
		return "its shared secret is another one than this host's";
	}
	return "";
}

void gate_tell(struct control *c, enum wire_reject why, const struct refused *who)
{
	struct gate_limit *l = &c->refusals[why];
	uint64_t now = c->p.now_ns();
	char address[FACT_ADDRESS], more[48] = "", text[FACT_TEXT];

	if (!words(why)[0])
		return;
	if (!l->since_ns || now >= l->since_ns + TELL_EVERY_NS)
		*l = (struct gate_limit){.since_ns = now, .held = l->held};
	if (l->told >= (is_about_secret(why) ? TELL_SECRETS : 1)) {
		l->held++;
		return;
	}
	l->told++;
	if (l->held)
		snprintf(more, sizeof(more), " (and %u more like it)", l->held);
	l->held = 0;
	rail_address_text(&who->address, address);
	snprintf(text, sizeof(text), "%s is refused: %s%s", address, words(why), more);
	tell_refused(c, why, who, text);
}
