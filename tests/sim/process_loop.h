/* core/loop.h for main under simulation: timers only. */
#pragma once
#include <stdbool.h>
#include "core/loop.h"

struct host;

struct loop *loop_of(struct host *h); /* a new one */
struct host *loop_host(const struct loop *loop);
uint64_t loop_when(const struct loop *loop); /* UINT64_MAX: no timer runs */
void loop_step(struct loop *loop);	     /* those that are due */
bool loop_exited(const struct loop *loop);
