/* QP number -> pointer, for completions on the shared CQ. Open addressing, fixed capacity, no
 * allocation after creation. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct qpmap;

struct qpmap *qpmap_new(size_t max_entries); /* NULL with errno */
void qpmap_free(struct qpmap *m);
/* 0, or -ENOSPC. A number that is in already is replaced. value must not be NULL. */
int qpmap_put(struct qpmap *m, uint32_t qpn, void *value);
void *qpmap_get(const struct qpmap *m, uint32_t qpn); /* NULL: unknown */
void qpmap_del(struct qpmap *m, uint32_t qpn);
/* Iterate: *cursor starts at 0; NULL at the end. The map must not change meanwhile. */
void *qpmap_next(const struct qpmap *m, size_t *cursor);
