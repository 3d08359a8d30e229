#include "health/rail_books.h"

#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "health/books.h"

struct rail_class {
	char name[FACT_NAME];
	struct op_books retired[OP_COUNT];   /* sessions that are gone */
	struct op_books sum[OP_COUNT];	     /* sessions of this look */
	struct hist hist_base[STREAM_COUNT]; /* workers that have ended */
	struct hist hist_live[STREAM_COUNT];
	struct hist hist_shown[STREAM_COUNT]; /* of the two, as much as the books account for */
};

struct rail_books {
	size_t n_classes;
	struct rail_class *classes[RAIL_CLASSES_MAX];
};

struct rail_books *rail_books_new(void)
{
	return calloc(1, sizeof(struct rail_books));
}

void rail_books_free(struct rail_books *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_classes; i++)
		free(r->classes[i]);
	free(r);
}

static struct rail_class *class_get(struct rail_books *r, const char *name)
{
	struct rail_class *c;

	for (size_t i = 0; i < r->n_classes; i++)
		if (!strcmp(r->classes[i]->name, name))
			return r->classes[i];
	if (r->n_classes == RAIL_CLASSES_MAX)
		return NULL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	name_copy(c->name, sizeof(c->name), name);
	r->classes[r->n_classes++] = c;
	return c;
}

bool rail_books_ensure(struct rail_books *r, const char *class_name)
{
	return class_get(r, class_name) != NULL;
}

void rail_books_begin(struct rail_books *r)
{
	for (size_t i = 0; i < r->n_classes; i++)
		memset(r->classes[i]->sum, 0, sizeof(r->classes[i]->sum));
}

void rail_books_add(struct rail_books *r, const char *class_name,
		    const struct op_books op[OP_COUNT])
{
	struct rail_class *c = class_get(r, class_name);

	if (!c)
		return;
	for (unsigned i = 0; i < OP_COUNT; i++)
		op_books_add(&c->sum[i], &op[i]);
}

void rail_books_retire(struct rail_books *r, const char *class_name,
		       const struct op_books op[OP_COUNT], enum abort_reason why)
{
	struct rail_class *c = class_get(r, class_name);

	if (!c)
		return;
	for (unsigned i = 0; i < OP_COUNT; i++) {
		struct op_books *into = &c->retired[i];

		op_books_add(into, &op[i]);
		into->aborted[why] += into->in_flight;
		into->in_flight = 0;
		/* A schedule that nobody keeps any more. */
		into->interval_ns = into->phase_ns = into->booked_until_ns = 0;
	}
}

static uint64_t grow(uint64_t *was, uint64_t now)
{
	if (now > *was)
		*was = now;
	return *was;
}

/* The table's words are read one by one while the rail adds to them: the count is made of the
 * buckets, so that +Inf and _count agree. */
void rail_books_hist(struct rail_books *r, const char *class_name, unsigned stream,
		     const struct hist *live)
{
	struct rail_class *c = class_get(r, class_name);
	struct hist *h;

	if (!c || stream >= STREAM_COUNT)
		return;
	h = &c->hist_live[stream];
	h->count = 0;
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		h->count += grow(&h->bucket[i], live->bucket[i]);
	grow(&h->sum_ns, live->sum_ns);
}

void rail_books_fold(struct rail_books *r)
{
	for (size_t i = 0; i < r->n_classes; i++) {
		struct rail_class *c = r->classes[i];

		for (unsigned stream = 0; stream < STREAM_COUNT; stream++)
			hist_merge(&c->hist_base[stream], &c->hist_live[stream]);
		memset(c->hist_live, 0, sizeof(c->hist_live));
	}
}

/* Shows of what came since the last time as many round trips as the books have, and holds the rest
 * back: they were added after the rows had been read, or by a worker that was killed before it
 * could show their row, and then they are nobody's. */
static void hold_back(struct hist *shown, const struct hist *base, const struct hist *live,
		      const struct op_books *books)
{
	uint64_t room = books->rtt_count > shown->count ? books->rtt_count - shown->count : 0;

	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		uint64_t n = base->bucket[i] + live->bucket[i] - shown->bucket[i];

		n = n < room ? n : room;
		room -= n;
		shown->bucket[i] += n;
		shown->count += n;
	}
	shown->sum_ns = books->rtt_sum_ns;
}

void rail_books_settle(struct rail_books *r)
{
	for (size_t i = 0; i < r->n_classes; i++) {
		struct rail_class *c = r->classes[i];
		struct hist *ack = &c->hist_shown[STREAM_ACK];

		for (unsigned op = 0; op < OP_COUNT; op++) {
			struct op_books all = c->retired[op];

			op_books_add(&all, &c->sum[op]);
			hold_back(&c->hist_shown[op], &c->hist_base[op], &c->hist_live[op], &all);
		}
		*ack = c->hist_base[STREAM_ACK];
		hist_merge(ack, &c->hist_live[STREAM_ACK]);
	}
}

size_t rail_books_classes(const struct rail_books *r)
{
	return r->n_classes;
}

const char *rail_books_class(const struct rail_books *r, size_t i, struct op_books ret_op[OP_COUNT],
			     struct hist ret_hist[STREAM_COUNT])
{
	const struct rail_class *c = r->classes[i];

	for (unsigned op = 0; op < OP_COUNT; op++) {
		ret_op[op] = c->retired[op];
		op_books_add(&ret_op[op], &c->sum[op]);
	}
	memcpy(ret_hist, c->hist_shown, sizeof(c->hist_shown));
	return c->name;
}
