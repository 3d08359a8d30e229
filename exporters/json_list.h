/* A JSON document with a list, written as a stream: head, one row after the other, tail. What a
 * slow reader holds is the snapshot it began with and one row, never the whole document. */
#pragma once
#include <stddef.h>
#include <sys/types.h>
#include "exporters/http.h"
#include "exporters/jsonw.h"
#include "exporters/params.h"
#include "health/snapshot.h"

struct json_list;

/* One kind of list (json_peers.h, json_devices.h, ...). */
struct json_list_type {
	const char *name; /* of the list's member */
	/* Members before the list; may be NULL. */
	void (*head)(struct json_list *l, struct jsonw *j);
	/* Append the next row; false when there is none, or with waits set when there is none yet.
	 */
	bool (*row)(struct json_list *l, struct jsonw *j);
	/* Members after the list; may be NULL. */
	void (*tail)(struct json_list *l, struct jsonw *j);
	/* Releases what it holds in state; may be NULL. */
	void (*end)(struct json_list *l);
};

struct json_list {
	const struct json_list_type *type;
	const struct snapshot *snapshot;  /* kept alive by the owner */
	const struct http_source *source; /* for the journal */
	uint64_t age_ns;		  /* of the snapshot */
	struct list_params params;
	size_t next;		/* index of the next candidate */
	size_t last;		/* index of the last row written, for the cursor */
	uint64_t written;	/* rows so far */
	uint64_t seq, last_seq; /* events */
	void *state;		/* the type's own */
	bool waits;		/* for json_list_wake() */
	void (*woken)(void *waiter);
	void *waiter;
	/* the stream */
	enum { LIST_HEAD, LIST_ROWS, LIST_END } stage;
	struct jsonw json;
	struct strbuf pending;
	size_t sent;
};

/* NULL: no memory. params may be NULL for none. */
struct json_list *json_list_new(const struct json_list_type *type, const struct snapshot *snapshot,
				const struct http_source *source, const struct list_params *params,
				uint64_t now_ns);
void json_list_free(struct json_list *l);
/* The next bytes, at most max: their number, 0 at the end, -EAGAIN when they have to be waited for,
 * -ENOMEM. */
ssize_t json_list_read(struct json_list *l, char *buf, size_t max);

/* There are rows again, or none at all. */
void json_list_wake(struct json_list *l);

/* "schema", "timestamp", "snapshot_age_seconds", "instance" of every document. */
void json_put_envelope(struct jsonw *j, const struct snapshot *s, uint64_t age_ns);
uint64_t json_snapshot_age(const struct snapshot *s, uint64_t now_ns);
