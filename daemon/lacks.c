#include "daemon/lacks.h"

#include "core/clock.h"
#include "core/log.h"
#include "daemon/daemon.h"
#include "daemon/sessions.h"

#define LINES_A_MINUTE 10 /* a list of peers that are all older is an event each, but no flood */

/* Our own device is told once, not once a session. */
static void tell_device(struct daemon *d, struct device *dev, enum op op)
{
	if (dev->lack_told & 1u << op)
		return;
	dev->lack_told |= 1u << op;
	log_info("%s: %s is not run: %s", dev->name, op_name(op), op_lack_text(op, OP_LACK_DEVICE));
	journal_add(d->journal, clock_wall_ns(), "operation", dev->name, NULL, NULL,
		    "%s is not run: %s", op_name(op), op_lack_text(op, OP_LACK_DEVICE));
}

static void tell_session(struct daemon *d, struct device *dev, const struct session *s, enum op op,
			 enum op_lack lack)
{
	const char *why = op_lack_text(op, lack);
	unsigned held_back;

	journal_add(d->journal, clock_wall_ns(), "operation", s->device, s->key.rail, s->key.peer,
		    "%s is %srun%s%s", op_name(op), lack ? "not " : "", lack ? ": " : " now", why);
	if (ratelimit_allow(&dev->lack_limit, clock_now_ns(), LINES_A_MINUTE, &held_back))
		log_info("%s on %s: %s is %srun%s%s", s->key.peer, s->key.rail, op_name(op),
			 lack ? "not " : "", lack ? ": " : " now", why);
}

void lacks_tell(struct daemon *d, struct session *s)
{
	struct device *dev = supervisor_find(d->supervisor, s->device);

	/* What the peer lacks is known once it has said hello. */
	if (!dev || !s->conn_seen || s->conn.state != SESSION_UP)
		return;
	for (unsigned op = 0; op < OP_COUNT; op++) {
		enum op_lack lack = s->conn.op_lack[op];

		if (lack == s->lack_told[op])
			continue;
		if (lack == OP_LACK_DEVICE)
			tell_device(d, dev, (enum op)op);
		else if (lack || s->lack_told[op] != OP_LACK_DEVICE)
			tell_session(d, dev, s, (enum op)op, lack);
		s->lack_told[op] = (uint8_t)lack;
	}
}

const char *lacks_words(struct snapshot *snapshot, const struct session *s)
{
	const char *words = "";

	for (unsigned op = 0; op < OP_COUNT; op++) {
		enum op_lack lack = s->conn_seen ? s->conn.op_lack[op] : OP_LACK_NONE;

		if (lack)
			words = snapshot_printf(snapshot, "%s%s%s is not run: %s", words,
						words[0] ? "; " : "", op_name(op),
						op_lack_text(op, lack));
	}
	return words;
}
