/* Keeps the sessions in step with peers, rails and classes. */
#pragma once
#include <stdbool.h>

struct daemon;
struct target;

/* The target is this host itself, and is not probed. */
bool planner_is_self(const struct daemon *d, const struct target *t);
/* Plan anew and follow; places what can be placed. Cheap when nothing changed. */
void planner_run(struct daemon *d);
