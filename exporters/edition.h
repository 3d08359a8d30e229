/* Editions: what clients are given is rendered once per snapshot and shared, so that a hundred
 * scrapes a second cost one rendering, and what slow clients hold can be counted. */
#pragma once
#include "exporters/exposition.h"
#include "exporters/http.h"
#include "health/snapshot.h"

struct editions;
struct edition;

struct editions *editions_new(const struct http_source *source); /* NULL: no memory */
/* Every edition must have been given back before. */
void editions_free(struct editions *all);

/* A new reference to the edition of the source's present snapshot; NULL before the first snapshot
 * or without memory. */
struct edition *editions_current(struct editions *all);
void edition_unref(struct edition *e); /* NULL is fine */
const struct snapshot *edition_snapshot(const struct edition *e);
/* The exposition in that format; valid as long as the edition. 0 or -errno. */
int edition_metrics(struct edition *e, enum exposition_format format, bool gzip,
		    const char **ret_data, size_t *ret_size);

/* Bytes held by all editions, their snapshots estimated by what they contain. */
uint64_t editions_bytes(const struct editions *all);
/* The oldest edition that only clients still hold; NULL: none. Not a reference. */
const struct edition *editions_oldest(const struct editions *all);
