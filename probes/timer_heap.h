/* Timers as a binary heap whose nodes live in their owners: cost per change is log of the number
 * of timers, and nothing is allocated after creation. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define TIMER_NEVER UINT64_MAX

struct timer_node {
	uint64_t at_ns;
	size_t index; /* 1-based place in the heap; 0: not in it */
};

struct timer_heap;

struct timer_heap *timer_heap_new(size_t max_nodes); /* NULL with errno */
void timer_heap_free(struct timer_heap *h);
/* (Re)arm; TIMER_NEVER disarms. The heap must have room for every node that is ever armed. */
void timer_heap_set(struct timer_heap *h, struct timer_node *n, uint64_t at_ns);
/* The earliest, not removed; NULL when empty. */
struct timer_node *timer_heap_first(const struct timer_heap *h);
uint64_t timer_heap_when(const struct timer_heap *h); /* TIMER_NEVER when empty */
