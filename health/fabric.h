/* What must be equal on all hosts of a fabric, spelled out, and its fingerprint: of each rail the
 * MTU, flow control, trust, maps of priorities, congestion control, RoCE mode and default ToS, and
 * the ToS of each class. Not the firmware: a fleet that is being updated is no broken one; nor
 * addresses and names of devices. What a driver does not tell is "-" and part of it, too. */
#pragma once
#include "core/strbuf.h"
#include "health/snapshot.h"

/* Fills s->fabric from rails, devices and classes. The fingerprint stays "" while a rail that is
 * present has no fresh facts, when there is no rail, and when memory is out: it would be of less
 * than all, and flap. What scratch holds is overwritten; its memory is for the next time. */
void fabric_describe(struct snapshot *s, struct strbuf *scratch);
