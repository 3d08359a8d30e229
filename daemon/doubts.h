/* Rows of a worker's table that main does not believe: told when that begins and ends. The judge
 * makes the finding of it. */
#pragma once

struct daemon;
struct session;

/* After its row was read. */
void doubts_tell(struct daemon *d, struct session *s);
