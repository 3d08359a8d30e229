#include "probes/wish.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "probes/wire.h"

#define LENGTH_TO(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))
#define TERMINATED(array) (memchr(array, '\0', sizeof(array)) != NULL)

#define TOS_MAX 255
#define SL_MAX 15
#define ACK_TIMEOUT_MAX 31
#define RETRY_COUNT_MAX 7
#define PREFIX_LEN_MAX 128
#define PORT_NUMBER_MAX 255

size_t wish_length(uint32_t type)
{
	switch (type) {
	case WISH_CONFIG:
		return LENGTH_TO(struct wish, config);
	case WISH_ACCEPT:
		return LENGTH_TO(struct wish, accept);
	case WISH_SESSION_ADD:
	case WISH_SESSION_REMOVE:
		return LENGTH_TO(struct wish, session);
	case WISH_STOP:
		return LENGTH_TO(struct wish, pad);
	}
	return 0;
}

/* All facts are sent whole: a text may go with any of them, and they are rare. */
size_t fact_length(uint32_t type)
{
	return type >= FACT_READY && type <= FACT_BYE ? sizeof(struct fact) : 0;
}

static bool rail_spec_check(const struct rail_spec *r)
{
	return TERMINATED(r->name) && TERMINATED(r->device) && TERMINATED(r->netdev) &&
	       r->prefix_len >= -1 && r->prefix_len <= PREFIX_LEN_MAX;
}

static bool class_config_check(const struct class_config *c)
{
	return TERMINATED(c->name) && c->tos >= -1 && c->tos <= TOS_MAX && c->sl >= -1 &&
	       c->sl <= SL_MAX;
}

static bool config_check(const struct worker_config *c)
{
	if (c->n_rails > RAIL_MAX || c->n_classes < 1 || c->n_classes > CLASS_MAX)
		return false;
	if (c->ack_timeout > ACK_TIMEOUT_MAX || c->retry_count > RETRY_COUNT_MAX)
		return false;
	if (!TERMINATED(c->host) || !TERMINATED(c->device) || !TERMINATED(c->sysfs_root))
		return false;
	for (uint32_t i = 0; i < c->n_rails; i++) {
		if (!rail_spec_check(&c->rails[i]))
			return false;
	}
	for (uint32_t i = 0; i < c->n_classes; i++) {
		if (!class_config_check(&c->classes[i]))
			return false;
	}
	return true;
}

static bool session_check(const struct wish_session *s)
{
	return s->id != 0 && s->rail < RAIL_MAX && s->class_index < CLASS_MAX && s->loopback <= 1 &&
	       s->reason < ABORT_COUNT && TERMINATED(s->peer) && TERMINATED(s->peer_rail);
}

static bool address_check(const struct wish_session *s)
{
	return s->address.sa.sa_family == AF_INET || s->address.sa.sa_family == AF_INET6 ||
	       s->address.sa.sa_family == AF_UNSPEC;
}

static bool wish_content_check(const struct wish *w)
{
	switch ((enum wish_type)w->type) {
	case WISH_CONFIG:
		return config_check(&w->config);
	case WISH_ACCEPT:
		return w->accept.n <= ACCEPT_CHUNK && w->accept.first <= 1 && w->accept.own <= 1;
	case WISH_SESSION_ADD:
		return session_check(&w->session) && address_check(&w->session);
	case WISH_SESSION_REMOVE:
		return session_check(&w->session);
	case WISH_STOP:
		return true;
	}
	return false;
}

bool wish_check(const struct wish *w, size_t len)
{
	if (len < LENGTH_TO(struct wish, type))
		return false;
	return len == wish_length(w->type) && wish_content_check(w);
}

static bool rail_fact_check(const struct rail_fact *r)
{
	return TERMINATED(r->name) && TERMINATED(r->device) && TERMINATED(r->netdev) &&
	       TERMINATED(r->address) && TERMINATED(r->reason) && r->gid_type <= GID_TYPE_ROCE_V2;
}

static bool conn_check(const struct session_conn *c)
{
	return c->state < SESSION_STATE_COUNT && TERMINATED(c->reason) &&
	       TERMINATED(c->error.text) && c->error.op < OP_COUNT && op_lacks_valid(c->op_lack);
}

/* What `number` and `old` mean depends on the type, and so do their bounds. */
static bool fact_number_check(const struct fact *f)
{
	switch ((enum fact_type)f->type) {
	case FACT_RAIL:
		return f->number <= RAIL_MAX;
	case FACT_SESSION:
		return f->number < SESSION_STATE_COUNT && f->old < SESSION_STATE_COUNT;
	case FACT_ASYNC:
		return f->number < ASYNC_EVENT_COUNT && f->port <= PORT_NUMBER_MAX;
	case FACT_DRAIN:
		return f->number < DRAIN_COUNT;
	case FACT_STALLED:
		return f->number <= 1;
	case FACT_REFUSED:
		return f->number <= WIRE_REJECT_SECRET_DIFFERS;
	case FACT_READY:
	case FACT_REMOVED:
	case FACT_ATTENTION:
	case FACT_CORRUPT:
	case FACT_DEVICE:
	case FACT_DUPLICATE:
	case FACT_ANSWERED:
	case FACT_BYE:
		return true;
	}
	return false;
}

bool fact_check(const struct fact *f, size_t len)
{
	if (len < LENGTH_TO(struct fact, type) || len != fact_length(f->type))
		return false;
	return f->rail < RAIL_MAX && fact_number_check(f) && rail_fact_check(&f->rail_fact) &&
	       conn_check(&f->conn) && TERMINATED(f->host) && TERMINATED(f->text);
}

static int packet_send(int fd, const void *data, size_t len)
{
	ssize_t n;

	if (len == 0)
		return -EINVAL;
	do {
		n = send(fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EWOULDBLOCK ? -EAGAIN : -errno;
	return 0;
}

int wish_send(int fd, const struct wish *w)
{
	return packet_send(fd, w, wish_length(w->type));
}

int fact_send(int fd, const struct fact *f)
{
	return packet_send(fd, f, fact_length(f->type));
}

/* Length of the packet taken (more than size when it was cut), 0 nothing there, -errno. */
static ssize_t packet_recv(int fd, void *ret, size_t size)
{
	ssize_t n;

	do {
		n = recv(fd, ret, size, MSG_DONTWAIT | MSG_TRUNC);
	} while (n < 0 && errno == EINTR);
	if (n == 0)
		return -ECONNRESET;
	if (n < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -errno;
	return n;
}

int wish_recv(int fd, struct wish *ret)
{
	ssize_t n = packet_recv(fd, ret, sizeof(*ret));

	if (n <= 0)
		return (int)n;
	return wish_check(ret, (size_t)n) ? 1 : -EBADMSG;
}

int fact_recv(int fd, struct fact *ret)
{
	ssize_t n = packet_recv(fd, ret, sizeof(*ret));

	if (n <= 0)
		return (int)n;
	return fact_check(ret, (size_t)n) ? 1 : -EBADMSG;
}
