/* --print-plan: what this host would probe, one session a line on stdout, and nothing is opened:
 *   rail peer peer_rail address class interval
 * with `-` for what is empty; the interval is the shortest of the operations. */
#pragma once

struct options;

int print_plan(const struct options *options); /* the exit status */
