/* The life of a session, as a pure table: the one place that knows which state follows which. */
#pragma once
#include "probes/facts.h"

enum session_event {
	SEV_START,    /* its turn to connect */
	SEV_RESOLVED, /* address and route are known, the request goes out */
	SEV_HELLO,    /* the peer said hello: probe */
	SEV_BROKEN,   /* the attempt or the connection failed, and a QP must be drained */
	SEV_REFUSED,  /* the attempt failed before there was a QP */
	SEV_DRAINED,  /* its QP is gone */
	SEV_RETRY,    /* the back-off is over */
	SEV_DISABLE,  /* refused for good: a reason says why */
};

/* The state after the event, or the same state when the event means nothing in it. */
enum session_state session_next_state(enum session_state state, enum session_event event);
