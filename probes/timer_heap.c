#include "probes/timer_heap.h"

#include <assert.h>
#include <stdlib.h>

struct timer_heap {
	size_t n, max;
	struct timer_node *node[]; /* 1-based */
};

struct timer_heap *timer_heap_new(size_t max_nodes)
{
	struct timer_heap *h = calloc(1, sizeof(*h) + (max_nodes + 1) * sizeof(h->node[0]));

	if (h)
		h->max = max_nodes;
	return h;
}

void timer_heap_free(struct timer_heap *h)
{
	free(h);
}

static void place(struct timer_heap *h, size_t i, struct timer_node *n)
{
	h->node[i] = n;
	n->index = i;
}

static void sift_up(struct timer_heap *h, size_t i)
{
	struct timer_node *n = h->node[i];

	for (; i > 1 && h->node[i / 2]->at_ns > n->at_ns; i /= 2)
		place(h, i, h->node[i / 2]);
	place(h, i, n);
}

static void sift_down(struct timer_heap *h, size_t i)
{
	struct timer_node *n = h->node[i];

	for (;;) {
		size_t child = i * 2;

		if (child > h->n)
			break;
		if (child < h->n && h->node[child + 1]->at_ns < h->node[child]->at_ns)
			child++;
		if (h->node[child]->at_ns >= n->at_ns)
			break;
		place(h, i, h->node[child]);
		i = child;
	}
	place(h, i, n);
}

static void take_out(struct timer_heap *h, struct timer_node *n)
{
	size_t i = n->index;
	struct timer_node *last = h->node[h->n--];

	n->index = 0;
	if (last == n)
		return;
	place(h, i, last);
	sift_up(h, i);
	sift_down(h, last->index);
}

void timer_heap_set(struct timer_heap *h, struct timer_node *n, uint64_t at_ns)
{
	if (at_ns == TIMER_NEVER) {
		if (n->index)
			take_out(h, n);
		return;
	}
	n->at_ns = at_ns;
	if (!n->index) {
		assert(h->n < h->max);
		place(h, ++h->n, n);
	}
	sift_up(h, n->index);
	sift_down(h, n->index);
}

struct timer_node *timer_heap_first(const struct timer_heap *h)
{
	return h->n ? h->node[1] : NULL;
}

uint64_t timer_heap_when(const struct timer_heap *h)
{
	return h->n ? h->node[1]->at_ns : TIMER_NEVER;
}
