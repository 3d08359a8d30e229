#include "probes/counter_set.h"

#include <string.h>

static int file_compare(const struct counter_file *f, uint8_t port, uint8_t source,
			const char *name)
{
	if (f->port != port)
		return f->port < port ? -1 : 1;
	if (f->source != source)
		return f->source < source ? -1 : 1;
	return strcmp(f->name, name);
}

/* Index of the first file that is not before the given one. */
static uint32_t lower_bound(const struct counter_set *set, uint8_t port, uint8_t source,
			    const char *name)
{
	uint32_t low = 0, high = set->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (file_compare(&set->files[mid], port, source, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void counter_set_release(struct counter_set *set)
{
	for (uint32_t i = 0; i < set->n; i++)
		held_close(&set->files[i].held, &set->held);
	set->held.ran_out = false;
}

void counter_set_release_part(struct counter_set *set, uint32_t part, uint32_t parts)
{
	for (uint32_t i = part; i < set->n; i += parts)
		held_close(&set->files[i].held, &set->held);
	set->held.ran_out = false;
}

void counter_set_clear(struct counter_set *set)
{
	counter_set_release(set);
	set->n = 0;
}

void counter_set_begin(struct counter_set *set)
{
	for (uint32_t i = 0; i < set->n; i++)
		set->files[i].seen = false;
}

static void insert(struct counter_set *set, uint32_t at, uint8_t port, uint8_t source,
		   const char *name)
{
	struct counter_file *f = &set->files[at];

	memmove(f + 1, f, (set->n - at) * sizeof(*f));
	set->n++;
	*f = (struct counter_file){.port = port, .source = source, .seen = true};
	memcpy(f->name, name, strlen(name) + 1);
	f->row = counter_row_of(source, name);
}

bool counter_set_see(struct counter_set *set, uint8_t port, enum counter_source source,
		     const char *name)
{
	uint32_t at = lower_bound(set, port, source, name);

	if (at < set->n && file_compare(&set->files[at], port, source, name) == 0) {
		set->files[at].seen = true;
		return true;
	}
	if (set->n == COUNTER_MAX)
		return false;
	insert(set, at, port, source, name);
	return true;
}

void counter_set_end(struct counter_set *set)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < set->n; i++) {
		if (!set->files[i].seen) {
			held_close(&set->files[i].held, &set->held);
			continue;
		}
		if (kept != i)
			set->files[kept] = set->files[i];
		kept++;
	}
	set->n = kept;
}

void counter_set_retry(struct counter_set *set)
{
	for (uint32_t i = 0; i < set->n; i++)
		set->files[i].skip = 0;
}
