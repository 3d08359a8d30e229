/* Keeps the sessions in step with peers, rails and classes. */
#pragma once

struct daemon;

/* Plan anew and follow; places what can be placed. Cheap when nothing changed. */
void planner_run(struct daemon *d);
