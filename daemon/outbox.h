/* Wishes on their way to one worker. What the socket does not take now waits here, in order; a
 * worker that reads nothing for OUTBOX_MAX wishes is beyond talking to. */
#pragma once
#include "probes/wish.h"

#define OUTBOX_MAX 16384

struct outbox;

struct outbox *outbox_new(void); /* NULL: no memory */
void outbox_free(struct outbox *o);
/* Copies. 0, -ENOBUFS when full, -ENOMEM, -EINVAL for an unknown type. */
int outbox_add(struct outbox *o, const struct wish *w);
/* Send what fits: 0 when it is empty now, -EAGAIN when the socket is full, else the error. */
int outbox_flush(struct outbox *o, int fd);
bool outbox_empty(const struct outbox *o);
