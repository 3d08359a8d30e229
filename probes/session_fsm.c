#include "probes/session_fsm.h"

static enum session_state from_idle(enum session_event event)
{
	return event == SEV_START ? SESSION_RESOLVING : SESSION_IDLE;
}

static enum session_state from_resolving(enum session_event event)
{
	if (event == SEV_RESOLVED)
		return SESSION_CONNECTING;
	if (event == SEV_BROKEN)
		return SESSION_DRAINING;
	return event == SEV_REFUSED ? SESSION_BACKOFF : SESSION_RESOLVING;
}

static enum session_state from_connecting(enum session_event event)
{
	if (event == SEV_HELLO)
		return SESSION_UP;
	if (event == SEV_BROKEN)
		return SESSION_DRAINING;
	return event == SEV_REFUSED ? SESSION_BACKOFF : SESSION_CONNECTING;
}

enum session_state session_next_state(enum session_state state, enum session_event event)
{
	if (event == SEV_DISABLE)
		return SESSION_DISABLED;
	switch (state) {
	case SESSION_IDLE:
		return from_idle(event);
	case SESSION_RESOLVING:
		return from_resolving(event);
	case SESSION_CONNECTING:
		return from_connecting(event);
	case SESSION_UP:
		return event == SEV_BROKEN ? SESSION_DRAINING : SESSION_UP;
	case SESSION_DRAINING:
		return event == SEV_DRAINED ? SESSION_BACKOFF : SESSION_DRAINING;
	case SESSION_BACKOFF:
		return event == SEV_RETRY ? SESSION_IDLE : SESSION_BACKOFF;
	case SESSION_DISABLED:
		return event == SEV_RETRY ? SESSION_IDLE : SESSION_DISABLED;
	}
	return state;
}
