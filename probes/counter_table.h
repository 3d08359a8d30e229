/* What each counter is: one row for each name that a driver of the kernel tells, with its width,
 * unit, kind, direction and signal; the rows stand in counters_rdma.def and counters_netdev.def.
 * Decided by source and name and never by the device or its driver: udev renames devices, and new
 * hardware brings known names. Where drivers differ in a counter's width, the row says so. Pure. */
#pragma once
#include "probes/facts.h"
#include "probes/signal.h"

/* How far a counter counts, and what it does then. */
enum counter_width {
	WIDTH_EITHER, /* not known, or not the same everywhere: wraps at 32 bits, or does not */
	WIDTH_32,     /* wraps */
	WIDTH_64,
	/* IB performance counters stop at their end until somebody resets them. */
	WIDTH_STICKS_4,
	WIDTH_STICKS_8,
	WIDTH_STICKS_16,
	WIDTH_STICKS_32,
	WIDTH_64_OR_STICKS_32, /* stops there where the port has no extended counters */
};
#define COUNTER_WIDTH_COUNT 8

enum counter_unit {
	UNIT_NONE, /* the driver does not tell */
	UNIT_EVENTS,
	UNIT_PACKETS,
	UNIT_FRAMES,
	UNIT_BYTES,
	UNIT_WORDS, /* of 4 bytes: told as counter_bytes(value) */
	UNIT_BITS,
	UNIT_SYMBOLS,
	UNIT_BLOCKS, /* of error correction */
	UNIT_REQUESTS,
	UNIT_OBJECTS,
	UNIT_TICKS, /* of a length that is the device's own */
	UNIT_SECONDS,
	UNIT_MILLISECONDS,
	UNIT_MICROSECONDS,
	UNIT_PERCENT,
};
#define COUNTER_UNIT_COUNT 16

enum counter_kind {
	KIND_COUNTER, /* only grows, but for wraps and resets */
	KIND_GAUGE,   /* goes up and down */
	KIND_SETTING, /* no measurement at all (lifespan): neither read nor told */
};
#define COUNTER_KIND_COUNT 3

/* Of what it counts, as seen by this port: a NAK that came in for a request that went out is TX. */
enum counter_direction { DIRECTION_NONE, DIRECTION_RX, DIRECTION_TX };
#define COUNTER_DIRECTION_COUNT 3

struct counter_row {
	/* {p} stands for a priority, 0 to 7; {n} for a number; a * at the end for any rest. */
	const char *name;
	const char *drivers; /* that have it, for people: "mlx5 rxe"; "pma": any with a PMA */
	const char *help;    /* what it counts, as part of a sentence */
	enum counter_source source;
	enum counter_width width;
	enum counter_unit unit;
	enum counter_kind kind;
	enum counter_direction direction;
	enum signal signal;
};

/* The row of a counter. For a name that is in no row, a row with name "" and what holds for
 * whatever comes from there. Never NULL. */
const struct counter_row *counter_row_of(enum counter_source source, const char *name);
/* The name without that of a leg before it: "rx_prio3_pause". A part of name. */
const char *counter_plain_name(enum counter_source source, const char *name);
/* The priority that a plain name has where its row has {p}; -1: the row has none. */
int counter_row_priority(const struct counter_row *row, const char *name);
/* All rows, by source and then name. */
const struct counter_row *counter_rows(size_t *ret_n);

const char *counter_width_name(enum counter_width width); /* "32", "64", "stops at 8 bits", ... */
const char *counter_unit_name(enum counter_unit unit);	  /* "packets"; "" */
const char *counter_kind_name(enum counter_kind kind);
const char *counter_direction_name(enum counter_direction direction); /* "rx", "tx", "" */
