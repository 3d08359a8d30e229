#include "daemon/outbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct letter {
	struct letter *next;
	struct wish wish; /* cut after the length of its type */
};

struct outbox {
	struct letter *head, **tail;
	size_t n;
};

struct outbox *outbox_new(void)
{
	struct outbox *o = calloc(1, sizeof(*o));

	if (o)
		o->tail = &o->head;
	return o;
}

static void drop_head(struct outbox *o)
{
	struct letter *l = o->head;

	o->head = l->next;
	if (!o->head)
		o->tail = &o->head;
	o->n--;
	free(l);
}

void outbox_free(struct outbox *o)
{
	if (!o)
		return;
	while (o->head)
		drop_head(o);
	free(o);
}

int outbox_add(struct outbox *o, const struct wish *w)
{
	size_t len = wish_length(w->type);
	struct letter *l;

	if (len == 0)
		return -EINVAL;
	if (o->n >= OUTBOX_MAX)
		return -ENOBUFS;
	l = malloc(offsetof(struct letter, wish) + len);
	if (!l)
		return -ENOMEM;
	l->next = NULL;
	memcpy(&l->wish, w, len);
	*o->tail = l;
	o->tail = &l->next;
	o->n++;
	return 0;
}

int outbox_flush(struct outbox *o, int fd)
{
	while (o->head) {
		int r = wish_send(fd, &o->head->wish);

		if (r < 0)
			return r;
		drop_head(o);
	}
	return 0;
}

bool outbox_empty(const struct outbox *o)
{
	return !o->head;
}
