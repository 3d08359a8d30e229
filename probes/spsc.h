/* A queue of fixed-size messages between exactly one producer thread and one consumer thread, with
 * an eventfd that wakes the consumer. No lock, no allocation after creation. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct spsc;

/* capacity is rounded up to a power of two. NULL with errno. */
struct spsc *spsc_new(size_t message_size, size_t capacity);
void spsc_free(struct spsc *q);
int spsc_fd(const struct spsc *q); /* readable while there may be messages; owned by q */
/* Producer: false when full (nothing was queued). Wakes the consumer. */
bool spsc_push(struct spsc *q, const void *message);
/* Producer: at least half of the capacity is taken. */
bool spsc_half_full(const struct spsc *q);
/* Consumer: nothing waits. */
bool spsc_empty(const struct spsc *q);
/* Consumer: false when empty. */
bool spsc_pop(struct spsc *q, void *ret_message);
/* Consumer: the nth (from 0) message that waits, which stays; false when there are no more. */
bool spsc_peek(const struct spsc *q, size_t nth, void *ret_message);
/* Consumer: forget wake-ups so far; then pop until empty. */
void spsc_drain_fd(struct spsc *q);
