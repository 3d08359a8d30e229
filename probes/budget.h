/* The probes that a device may send in a second, shared by all of its sessions: where more are due,
 * each instant of each session and operation gets the same part, by turns. Instants recur, so a
 * limit that lets in who comes first would refuse the same sessions for ever. Pure. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct budget {
	uint64_t per_second; /* 0: no limit */
	uint64_t demand;     /* sum of budget_rate() of all that can be sent */
};

/* What an operation with that interval asks for, in millionths of a probe a second; 0: nothing. */
uint64_t budget_rate(uint64_t interval_ns);
/* Whether an instant that is due may be used. turn is the operation's own and remembers what it has
 * coming; it begins with any number, best one that differs from the others'. In the long run every
 * operation gets per_second / demand of its instants, and their sum is per_second. */
bool budget_take(const struct budget *b, uint64_t *turn);
