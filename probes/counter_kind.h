/* What a counter is, decided by its source and name and never by the driver: udev renames
 * devices, and new hardware brings known names. Pure. */
#pragma once
#include "probes/facts.h"

struct counter_kind {
	bool hidden;	    /* a setting and no measurement (lifespan): neither read nor told */
	bool gauge;	    /* goes up and down */
	bool data_words;    /* counts 4-byte words: tell counter_bytes(value) as ..._bytes */
	uint8_t bits;	    /* 64; 32: wraps there; 0: not known, may be either */
	uint64_t sticks_at; /* 0: never; else it stops counting at this value (IB PMA) */
};

struct counter_kind counter_kind_of(enum counter_source source, const char *name);
/* [a-z][a-z0-9_]*: can be part of a metric name as it stands. */
bool counter_name_plain(const char *name);
/* counters_ext's "X_64" is the wide form of X and wins over it: true, and X in ret. */
bool counter_wide_form(enum counter_source source, const char *name, char ret[FACT_NAME]);
/* Four times words; UINT64_MAX where that does not fit, which is wrong by less than a wrap is. */
uint64_t counter_bytes(uint64_t words);
bool counter_saturated(const struct counter_kind *kind, uint64_t value);
/* Growth from before to now, over one wrap where the width allows one. false: it was reset in
 * between (driver reload, perfquery -R) and *ret is 0, for nobody knows what got lost. */
bool counter_growth(const struct counter_kind *kind, uint64_t before, uint64_t now, uint64_t *ret);
