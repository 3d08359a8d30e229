#include "probes/netdev_stats.h"

#include <errno.h>
#include <string.h>

#include "core/hash.h"
#include "core/names.h"

/* In which order statistics find a place. */
enum rank { RANK_KNOWN, RANK_WHOLE, RANK_NUMBERED };
#define RANK_COUNT 3

void netdev_stat_name(const char raw[ETHTOOL_NAME], char ret[ETHTOOL_NAME + 1])
{
	size_t len = strnlen(raw, ETHTOOL_NAME);

	while (len > 0 && raw[len - 1] == ' ')
		len--;
	while (len > 0 && *raw == ' ') {
		raw++;
		len--;
	}
	for (size_t i = 0; i < len; i++)
		ret[i] = raw[i] < ' ' || raw[i] > '~' ? '?' : raw[i];
	ret[len] = '\0';
}

static enum rank rank_of(const struct counter_row *row, const char *name)
{
	if (row->name[0])
		return RANK_KNOWN;
	/* What has a number in it mostly is of one queue of many. */
	return strpbrk(name, "0123456789") ? RANK_NUMBERED : RANK_WHOLE;
}

static bool is_kept(const struct netdev_stats *s, const char *name)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (strcmp(s->stat[i].name, name) == 0)
			return true;
	}
	return false;
}

static void keep(struct netdev_stats *s, const char *name, const struct counter_row *row,
		 uint32_t index)
{
	struct netdev_stat *stat;

	if (s->n == s->max || is_kept(s, name)) {
		s->dropped++;
		return;
	}
	stat = &s->stat[s->n++];
	*stat = (struct netdev_stat){.index = index, .row = row};
	memcpy(stat->name, name, strlen(name) + 1);
}

static void choose(struct netdev_stats *s, const char (*names)[ETHTOOL_NAME])
{
	char name[ETHTOOL_NAME + 1];

	s->n = s->dropped = 0;
	for (unsigned rank = 0; rank < RANK_COUNT; rank++) {
		for (uint32_t i = 0; i < s->total; i++) {
			const struct counter_row *row;

			netdev_stat_name(names[i], name);
			row = counter_row_of(SOURCE_ETHTOOL, name);
			/* Some drivers leave places without a name. */
			if (name[0] && row->kind != KIND_SETTING && rank_of(row, name) == rank)
				keep(s, name, row, i);
		}
	}
}

/* Mostly the names are those of before, and what is known of each stays. */
static int names_read(struct netdev_stats *s, struct ethtool *e, uint32_t total, uint32_t max)
{
	const char(*names)[ETHTOOL_NAME];
	uint64_t hash;
	int r = ethtool_names(e, s->netdev, total, &names);

	if (r < 0)
		return r;
	hash = hash_bytes(names, (size_t)total * ETHTOOL_NAME);
	if (total != s->total || max != s->max || hash != s->names_hash) {
		s->total = total;
		s->max = max;
		s->names_hash = hash;
		choose(s, names);
	}
	s->stale = false;
	return 0;
}

static int values_read(struct netdev_stats *s, struct ethtool *e)
{
	const uint64_t *values;
	int r = ethtool_values(e, s->netdev, s->total, &values);

	for (uint32_t i = 0; r == 0 && i < s->n; i++) {
		struct netdev_stat *stat = &s->stat[i];

		stat->before = stat->value;
		stat->has_before = stat->has_value;
		stat->has_value = true;
		memcpy(&stat->value, &values[stat->index], sizeof(stat->value));
	}
	return r;
}

static int ask(struct netdev_stats *s, struct ethtool *e, uint32_t max)
{
	int total = ethtool_count(e, s->netdev), r;

	if (total < 0)
		return total;
	if ((uint32_t)total != s->total || max != s->max)
		s->stale = true;
	r = s->stale ? names_read(s, e, (uint32_t)total, max) : 0;
	return r < 0 || total == 0 ? r : values_read(s, e);
}

int netdev_stats_read(struct netdev_stats *s, struct ethtool *e, const char *netdev, uint32_t max)
{
	int r;

	if (strcmp(s->netdev, netdev) != 0) {
		memset(s, 0, sizeof(*s));
		s->stale = true;
		name_copy(s->netdev, sizeof(s->netdev), netdev);
	}
	if (s->skip > 0) {
		s->skip--;
		return 0;
	}
	r = ask(s, e, max < NETDEV_STATS_MAX ? max : NETDEV_STATS_MAX);
	if (r == 0)
		return 1;
	s->stale = true;
	/* The number of statistics changed under our hands: the next round will find it so. */
	s->skip = r == -EAGAIN ? 0 : NETDEV_RETRY_ROUNDS - 1;
	return r;
}

void netdev_stats_retry(struct netdev_stats *s)
{
	s->skip = 0;
	s->stale = true;
}
