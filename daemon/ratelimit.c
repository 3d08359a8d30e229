#include "daemon/ratelimit.h"

bool ratelimit_allow(struct ratelimit *r, uint64_t now_ns, unsigned max, unsigned *ret_held_back)
{
	*ret_held_back = 0;
	if (r->n == 0 || now_ns - r->since_ns >= RATELIMIT_WINDOW_NS) {
		*ret_held_back = r->held_back;
		r->since_ns = now_ns;
		r->n = r->held_back = 0;
	}
	if (r->n >= max) {
		r->held_back++;
		return false;
	}
	r->n++;
	return true;
}
