/* Text for a terminal: what came over the network cannot move the cursor, and figures are short. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "core/strbuf.h"

#define TEXT_SHORT 32
#define TEXT_PLAIN "\033[0m"

/* Adds text with every control character (C0, DEL, C1) and every direction override as '?'. The
 * text must be valid UTF-8 (JSON strings are). */
void text_add_clean(struct strbuf *sb, const char *text);
/* Code points: near enough to columns for names of hosts and devices. */
size_t text_width(const char *text);
/* Adds at most width code points of clean text; the last one is an ellipsis when some are cut. */
void text_add_cut(struct strbuf *sb, const char *text, size_t width);
/* The escape sequence that begins a verdict's colour; "" for words that have none. TEXT_PLAIN ends
 * it. */
const char *text_colour(const char *verdict);
/* "870ns", "312us", "3.12ms", "1.20s". */
const char *text_latency(double seconds, char buf[TEXT_SHORT]);
/* "12s", "5m12s", "3h05m", "12d03h"; "0s" when negative. */
const char *text_duration(double seconds, char buf[TEXT_SHORT]);
/* "2026-11-29 13:58:03Z", UTC as in the daemon's own words; "-" when it is no date. */
const char *text_date(double unix_time, char buf[TEXT_SHORT]);
/* "100 Gb/s" from bytes per second; "25 of 100 Gb/s" where more is expected, 0: that is unknown. */
const char *text_rate(uint64_t bytes_per_second, uint64_t expected, char buf[TEXT_SHORT]);
