#include "probes/qpmap.h"

#include <errno.h>
#include <stdlib.h>

struct entry {
	uint32_t qpn;
	void *value; /* NULL: free */
};

struct qpmap {
	size_t mask, count, max;
	struct entry slot[];
};

struct qpmap *qpmap_new(size_t max_entries)
{
	struct qpmap *m;
	size_t n = 16;

	while (n < max_entries * 2)
		n *= 2;
	m = calloc(1, sizeof(*m) + n * sizeof(m->slot[0]));
	if (!m)
		return NULL;
	m->mask = n - 1;
	m->max = max_entries;
	return m;
}

void qpmap_free(struct qpmap *m)
{
	free(m);
}

static size_t home(const struct qpmap *m, uint32_t qpn)
{
	return (qpn * 2654435761u >> 7) & m->mask;
}

static size_t find(const struct qpmap *m, uint32_t qpn)
{
	size_t i = home(m, qpn);

	while (m->slot[i].value && m->slot[i].qpn != qpn)
		i = (i + 1) & m->mask;
	return i;
}

int qpmap_put(struct qpmap *m, uint32_t qpn, void *value)
{
	size_t i = find(m, qpn);

	if (!m->slot[i].value) {
		if (m->count == m->max)
			return -ENOSPC;
		m->count++;
	}
	m->slot[i] = (struct entry){qpn, value};
	return 0;
}

void *qpmap_get(const struct qpmap *m, uint32_t qpn)
{
	return m->slot[find(m, qpn)].value;
}

/* Backward-shift deletion: no tombstones, so look-ups stay short for ever. */
void qpmap_del(struct qpmap *m, uint32_t qpn)
{
	size_t i = find(m, qpn), j = i;

	if (!m->slot[i].value)
		return;
	m->count--;
	for (;;) {
		j = (j + 1) & m->mask;
		if (!m->slot[j].value)
			break;
		size_t h = home(m, m->slot[j].qpn);

		if (((j - h) & m->mask) < ((j - i) & m->mask))
			continue;
		m->slot[i] = m->slot[j];
		i = j;
	}
	m->slot[i].value = NULL;
}

void *qpmap_next(const struct qpmap *m, size_t *cursor)
{
	while (*cursor <= m->mask) {
		void *v = m->slot[(*cursor)++].value;

		if (v)
			return v;
	}
	return NULL;
}
