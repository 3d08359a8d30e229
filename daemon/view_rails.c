#include <string.h>

#include "core/names.h"
#include "daemon/daemon.h"
#include "daemon/view.h"

static bool fill_classes(struct snapshot *s, struct snap_rail *to, const struct rail *from)
{
	size_t n = rail_books_classes(from->books);

	if (n == 0)
		return true;
	to->classes = snapshot_alloc(s, n, sizeof(*to->classes));
	if (!to->classes)
		return false;
	to->n_classes = n;
	for (size_t i = 0; i < n; i++)
		to->classes[i].class_name =
			snapshot_str(s, rail_books_class(from->books, i, to->classes[i].op,
							 to->classes[i].hist));
	return true;
}

static void count_sessions(struct snap_rail *to, const struct sessions *sessions)
{
	for (size_t i = 0; i < sessions_count(sessions); i++) {
		const struct session *session = sessions_get(sessions, i);
		uint64_t since;

		if (session->wanted && !session->target.loopback &&
		    strcmp(session->key.rail, to->name) == 0)
			to->sessions[session_shown_state(session, &since)]++;
	}
}

bool view_rails(struct snapshot *s, const struct daemon *d)
{
	size_t n = rails_count(d->rails);

	if (n == 0)
		return true;
	s->rails = snapshot_alloc(s, n, sizeof(*s->rails));
	if (!s->rails)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct rail *from = rails_get(d->rails, i);
		struct snap_rail *to = &s->rails[s->n_rails++];

		to->name = snapshot_str(s, from->name);
		to->present = from->present;
		to->up = from->present && from->fact.up;
		to->fact = from->fact;
		name_copy(to->fact.device, sizeof(to->fact.device), from->device);
		rail_totals_sum(from, &to->totals);
		count_sessions(to, d->sessions);
		if (!fill_classes(s, to, from))
			return false;
	}
	return true;
}
