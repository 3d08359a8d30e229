#include "probes/netdev_reader.h"

#include <errno.h>
#include <string.h>

#include "probes/counter_delta.h"
#include "probes/sysfs.h"

int netdev_reader_ready(struct netdev_reader *n)
{
	int r;

	if (n->has_ethtool)
		return 0;
	r = ethtool_open(&n->ethtool);
	n->has_ethtool = r == 0;
	return r;
}

void netdev_reader_close(struct netdev_reader *n)
{
	if (n->has_ethtool)
		ethtool_close(&n->ethtool);
	for (uint32_t i = 0; i < PORT_MAX; i++)
		bond_legs_free(n->legs[i]);
}

/* Of whom statistics are: of a port's netdev, or of a leg of it. */
struct owner {
	uint8_t port;
	const char *leg; /* NULL: the port's netdev */
};

static enum counter_source source_of(const struct owner *of)
{
	return of->leg ? SOURCE_LEG : SOURCE_ETHTOOL;
}

static void told_name(const struct owner *of, const struct netdev_stat *stat, char ret[FACT_NAME])
{
	if (of->leg)
		bond_leg_stat_name(of->leg, stat->name, ret);
	else
		memcpy(ret, stat->name, sizeof(stat->name));
}

/* A statistic that is in no row may be no counter at all: that it falls is no news. */
static void note(const struct netdev_stat *stat, const struct owner *of, struct reset_log *resets)
{
	const struct counter_row *row = stat->row;
	char name[FACT_NAME];

	if (!stat->has_before || !row->name[0] || row->kind != KIND_COUNTER ||
	    counter_delta(row->width, stat->before, stat->value).step != STEP_RESET)
		return;
	told_name(of, stat, name);
	reset_log_add(resets,
		      &(struct counter_reset){.before = stat->before,
					      .now = stat->value,
					      .port = of->port,
					      .source = (uint8_t)source_of(of)},
		      name);
}

static void tell(const struct netdev_stats *s, const struct owner *of, const struct netdev_sink *to)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct netdev_stat *stat = &s->stat[i];
		struct counter_value *v = &to->round->values[to->round->n_values];

		note(stat, of, to->resets);
		if (to->round->n_values == COUNTER_MAX) {
			++*to->dropped;
			continue;
		}
		*v = (struct counter_value){
			.value = stat->value, .port = of->port, .source = (uint8_t)source_of(of)};
		told_name(of, stat, v->name);
		to->round->n_values++;
	}
	*to->dropped += s->dropped;
}

/* As netdev_stats_read(). */
static int read_one(struct netdev_reader *n, struct netdev_stats *s, const char *netdev,
		    uint32_t max, const struct owner *of, const struct netdev_sink *to)
{
	int got = netdev_stats_read(s, &n->ethtool, netdev, max);

	if (got > 0)
		tell(s, of, to);
	else if (got < 0 && got != -EOPNOTSUPP && got != -EAGAIN)
		to->errors[sysfs_error_class(got)]++;
	return got;
}

static enum netdev_news own_run(struct netdev_reader *n, uint32_t index, struct port_fact *port,
				const struct netdev_sink *to)
{
	struct owner of = {.port = port->port};
	int got = read_one(n, &n->stats[index], port->netdev, n->max, &of, to);

	if (got != 0)
		port->netdev_errno = got < 0 ? (uint8_t)-got : 0;
	return got == -ENODEV ? NETDEV_GONE : NETDEV_AS_KNOWN;
}

/* They share what one netdev may have. */
static enum netdev_news legs_run(struct netdev_reader *n, uint32_t index, struct port_fact *port,
				 unsigned legs, const struct netdev_sink *to)
{
	const char(*members)[FACT_NETDEV] = (const char(*)[FACT_NETDEV])port->config.members;
	enum netdev_news news = NETDEV_AS_KNOWN;

	if (!n->legs[index])
		n->legs[index] = bond_legs_new();
	if (!n->legs[index]) {
		to->errors[READ_OTHER]++;
		return news;
	}
	port->netdev_errno = 0;
	for (unsigned i = 0; i < legs; i++) {
		struct owner of = {.port = port->port, .leg = members[i]};
		struct netdev_stats *s = bond_legs_of(n->legs[index], members[i], members, legs);

		if (read_one(n, s, members[i], n->max / legs, &of, to) == -ENODEV)
			news = NETDEV_LEG_GONE;
	}
	return news;
}

enum netdev_news netdev_reader_run(struct netdev_reader *n, uint32_t index, struct port_fact *port,
				   const struct netdev_sink *to)
{
	unsigned legs = port_fact_legs(port);

	if (!port->netdev[0])
		return NETDEV_AS_KNOWN;
	return legs ? legs_run(n, index, port, legs, to) : own_run(n, index, port, to);
}

void netdev_reader_retry(struct netdev_reader *n)
{
	for (uint32_t i = 0; i < PORT_MAX; i++) {
		netdev_stats_retry(&n->stats[i]);
		bond_legs_retry(n->legs[i]);
	}
}

void netdev_reader_stale(struct netdev_reader *n, uint32_t index)
{
	n->stats[index].stale = true;
	bond_legs_stale(n->legs[index]);
}
