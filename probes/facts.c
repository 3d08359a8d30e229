#include "probes/facts.h"

#include <assert.h>
#include <string.h>

/* The order is part of the table shared by main and workers: add before `other` only. */
const char *const async_event_names[ASYNC_EVENT_COUNT] = {
	"cq_err",
	"qp_fatal",
	"qp_req_err",
	"qp_access_err",
	"comm_est",
	"sq_drained",
	"path_mig",
	"path_mig_err",
	"device_fatal",
	"port_active",
	"port_err",
	"lid_change",
	"pkey_change",
	"sm_change",
	"srq_err",
	"srq_limit_reached",
	"qp_last_wqe_reached",
	"client_reregister",
	"gid_change",
	"wq_fatal",
	"device_speed_change",
	"other",
};

/* Positions above of the events whose element is a port number. */
#define PORT_EVENTS (1u << 9 | 1u << 10 | 1u << 11 | 1u << 12 | 1u << 13 | 1u << 17 | 1u << 18)

static_assert(ASYNC_EVENT_COUNT <= 32, "PORT_EVENTS is a 32-bit set");

/* Facts come out of memory that another process writes: an index is never trusted. */
static const char *name_at(const char *const *names, size_t count, size_t index)
{
	return index < count ? names[index] : "invalid";
}

#define NAME_AT(names, index) name_at(names, sizeof(names) / sizeof((names)[0]), (size_t)(index))

bool async_event_is_port(unsigned event)
{
	return event < ASYNC_EVENT_COUNT && (PORT_EVENTS >> event & 1u);
}

const char *stream_name(unsigned stream)
{
	static const char *const names[STREAM_COUNT] = {"send", "read", "write", "atomic", "ack"};

	return NAME_AT(names, stream);
}

const char *op_name(enum op op)
{
	return (unsigned)op < OP_COUNT ? stream_name(op) : "invalid";
}

const char *session_state_name(enum session_state state)
{
	static const char *const names[SESSION_STATE_COUNT] = {
		"idle", "resolving", "connecting", "up", "draining", "backoff", "disabled",
	};

	return NAME_AT(names, state);
}

const char *fail_reason_name(enum fail_reason reason)
{
	static const char *const names[FAIL_COUNT] = {
		"timeout",
		"retry_exceeded",
		"rnr_retry_exceeded",
		"remote_access",
		"remote_operation",
		"local_qp_error",
		"corrupt",
		"other",
	};

	return NAME_AT(names, reason);
}

const char *abort_reason_name(enum abort_reason reason)
{
	static const char *const names[ABORT_COUNT] = {
		"flushed", "drain", "reload", "peer_leaving", "worker_lost", "local_port_down",
	};

	return NAME_AT(names, reason);
}

const char *skip_reason_name(enum skip_reason reason)
{
	static const char *const names[SKIP_COUNT] = {
		"local_port_down", "not_connected", "qp_stalled",    "peer_unresponsive",
		"budget",	   "worker_stuck",  "device_absent",
	};

	return NAME_AT(names, reason);
}

const char *connect_failure_name(enum connect_failure failure)
{
	static const char *const names[CONNECT_COUNT] = {
		"resolve",	"route", "unreachable", "rejected",	"stale", "timeout",
		"wrong_device", "hello", "version",	"no_resources", "other",
	};

	return NAME_AT(names, failure);
}

const char *refuse_reason_name(enum refuse_reason why)
{
	static const char *const names[REFUSE_COUNT] = {
		"malformed",	  "version",	    "not_listed", "cap",
		"half_open",	  "no_resources",   "leaving",	  "secret_missing",
		"secret_unknown", "secret_differs", "hello",
	};

	return NAME_AT(names, why);
}

const char *drain_outcome_name(enum drain_outcome outcome)
{
	static const char *const names[DRAIN_COUNT] = {"last_wqe", "marker", "timeout"};

	return NAME_AT(names, outcome);
}

const char *op_lack_text(enum op op, enum op_lack lack)
{
	static const char *const texts[OP_COUNT][OP_LACK_COUNT] = {
		[OP_SEND] = {"", "this device does not send", "the peer receives nothing",
			     "the peer cannot receive our send_size"},
		[OP_READ] = {"", "this device has no READ", "the peer serves no READ",
			     "the peer offers less than our read_size"},
		[OP_WRITE] = {"", "this device has no WRITE",
			      "the peer offers no memory to write to",
			      "the peer offers less than our write_size"},
		[OP_ATOMIC] = {"", "this device has no atomics", "the peer serves no atomics",
			       "the peer offers less than 8 bytes"},
	};

	return (unsigned)op < OP_COUNT ? NAME_AT(texts[op], lack) : "invalid";
}

const char *gid_type_name(enum gid_type type)
{
	static const char *const names[] = {"", "IB", "RoCE v1", "RoCE v2"};

	return NAME_AT(names, type);
}

const char *port_trust_name(enum port_trust trust)
{
	static const char *const names[] = {"", "pcp", "dscp"};

	return (unsigned)trust < sizeof(names) / sizeof(names[0]) ? names[trust] : "";
}

const char *rate_source_name(enum rate_source source)
{
	switch (source) {
	case RATE_OF_NOBODY:
		break;
	case RATE_OF_CONFIGURATION:
		return "configuration";
	case RATE_OF_PARTNER:
		return "partner";
	}
	return "";
}

const char *link_layer_name(enum link_layer layer)
{
	static const char *const names[] = {"unknown", "InfiniBand", "Ethernet"};

	return NAME_AT(names, layer);
}

const char *worker_loop_name(enum worker_loop loop)
{
	static const char *const names[WORKER_LOOPS] = {"rail", "control", "counter"};

	return NAME_AT(names, loop);
}

const char *counter_source_name(enum counter_source source)
{
	static const char *const names[COUNTER_SOURCE_COUNT] = {
		"counters", "counters_ext", "hw_counters", "optional", "ethtool", "leg"};

	return NAME_AT(names, source);
}

const char *read_error_name(enum read_error error)
{
	static const char *const names[READ_ERROR_COUNT] = {
		"einval", "eacces", "eio", "enodev", "timeout", "parse", "other",
	};

	return NAME_AT(names, error);
}

static uint64_t sum(const uint64_t *v, size_t n)
{
	uint64_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += v[i];
	return total;
}

uint64_t op_books_failed(const struct op_books *b)
{
	return sum(b->failed, FAIL_COUNT);
}

uint64_t op_books_aborted(const struct op_books *b)
{
	return sum(b->aborted, ABORT_COUNT);
}

uint64_t op_books_not_attempted(const struct op_books *b)
{
	return sum(b->not_attempted, SKIP_COUNT);
}

bool op_books_balanced(const struct op_books *b)
{
	return b->scheduled == b->sent + op_books_not_attempted(b) &&
	       b->sent == b->ok + op_books_failed(b) + op_books_aborted(b) + b->in_flight &&
	       b->late <= op_books_failed(b) && b->self_delayed <= b->ok;
}

unsigned port_fact_legs(const struct port_fact *f)
{
	return f->netdev[0] && strcmp(f->config.bond, f->netdev) == 0 ? f->config.n_members : 0;
}
