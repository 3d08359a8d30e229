#include "probes/spsc.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct spsc {
	int fd;
	size_t size, mask;
	_Atomic size_t head; /* next to pop; written by the consumer */
	_Atomic size_t tail; /* next to push; written by the producer */
	uint8_t *slots;
};

struct spsc *spsc_new(size_t message_size, size_t capacity)
{
	struct spsc *q = calloc(1, sizeof(*q));
	size_t n = 1;

	if (!q)
		return NULL;
	while (n < capacity)
		n *= 2;
	q->size = message_size;
	q->mask = n - 1;
	q->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	q->slots = calloc(n, message_size);
	if (q->fd < 0 || !q->slots) {
		spsc_free(q);
		return NULL;
	}
	return q;
}

void spsc_free(struct spsc *q)
{
	if (!q)
		return;
	if (q->fd >= 0)
		close(q->fd);
	free(q->slots);
	free(q);
}

int spsc_fd(const struct spsc *q)
{
	return q->fd;
}

bool spsc_push(struct spsc *q, const void *message)
{
	size_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);
	size_t head = atomic_load_explicit(&q->head, memory_order_acquire);
	uint64_t one = 1;

	if (tail - head > q->mask)
		return false;
	memcpy(q->slots + (tail & q->mask) * q->size, message, q->size);
	atomic_store_explicit(&q->tail, tail + 1, memory_order_release);
	/* EAGAIN means the counter is at its maximum, so the consumer is awake anyway. */
	while (write(q->fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	return true;
}

bool spsc_half_full(const struct spsc *q)
{
	size_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);

	return tail - atomic_load_explicit(&q->head, memory_order_acquire) > q->mask / 2;
}

bool spsc_empty(const struct spsc *q)
{
	return atomic_load_explicit(&q->head, memory_order_relaxed) ==
	       atomic_load_explicit(&q->tail, memory_order_acquire);
}

bool spsc_pop(struct spsc *q, void *ret_message)
{
	size_t head = atomic_load_explicit(&q->head, memory_order_relaxed);

	if (head == atomic_load_explicit(&q->tail, memory_order_acquire))
		return false;
	memcpy(ret_message, q->slots + (head & q->mask) * q->size, q->size);
	atomic_store_explicit(&q->head, head + 1, memory_order_release);
	return true;
}

bool spsc_peek(const struct spsc *q, size_t nth, void *ret_message)
{
	size_t head = atomic_load_explicit(&q->head, memory_order_relaxed);

	if (nth >= atomic_load_explicit(&q->tail, memory_order_acquire) - head)
		return false;
	memcpy(ret_message, q->slots + ((head + nth) & q->mask) * q->size, q->size);
	return true;
}

void spsc_drain_fd(struct spsc *q)
{
	uint64_t v;

	while (read(q->fd, &v, sizeof(v)) < 0 && errno == EINTR)
		;
}
