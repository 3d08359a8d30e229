#include "daemon/daemon.h"
#include "daemon/view.h"
#include "probes/wire.h"

static const char *words(struct snapshot *s, const struct refusal *r)
{
	if (r->why == WIRE_REJECT_SECRET_WANTED)
		return snapshot_printf(s,
				       "%s connects without the shared secret and is refused: set "
				       "[peers] secret_file there too",
				       r->peer);
	if (r->why == WIRE_REJECT_NO_SECRET)
		return snapshot_printf(s,
				       "%s wants a shared secret and this host has none, so it is "
				       "refused: set [peers] secret_file here too",
				       r->peer);
	return snapshot_printf(s,
			       "%s connects with another shared secret and is refused: [peers] "
			       "secret_file must hold the same on both",
			       r->peer);
}

bool view_refusals(struct snapshot *s, struct daemon *d, struct view_judged *judged)
{
	refusals_expire(&d->refusals, s->mono_ns);
	if (d->refusals.n == 0)
		return true;
	judged->refusals = snapshot_alloc(s, d->refusals.n, sizeof(*judged->refusals));
	if (!judged->refusals)
		return false;
	for (size_t i = 0; i < d->refusals.n; i++)
		judged->refusals[judged->n_refusals++] = (struct judge_refusal){
			snapshot_str(s, d->refusals.list[i].peer), words(s, &d->refusals.list[i])};
	return true;
}
