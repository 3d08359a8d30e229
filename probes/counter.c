#include "probes/counter.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/names.h"
#include "probes/counter_delta.h"
#include "probes/counter_netlink.h"
#include "probes/counter_set.h"
#include "probes/device_fact.h"
#include "probes/dir_stamp.h"
#include "probes/gid_table.h"
#include "probes/netdev_reader.h"
#include "probes/pci_link.h"
#include "probes/port_fact.h"
#include "probes/port_setup.h"
#include "probes/read_failures.h"
#include "probes/sysfs.h"
#include "probes/sysfs_value.h"

/* Reading state or rate runs a firmware command or takes the RTNL lock, and with rxe on a netdev
 * without speed each read is a line in the kernel log. */
#define STATE_AGE_NS (5 * NSEC_PER_SEC)
#define STATE_AGE_TOLD_NS (30 * NSEC_PER_SEC) /* where changes are told */
/* News may be ahead of what the files say: for as long they are read as if nothing were told. */
#define SETTLE_NS (60 * NSEC_PER_SEC)
/* Which files there are. A driver makes its own when it registers the device or a port, and that
 * shows. In a tree of plain files the directories tell, each round. */
#define LIST_AGE_NS (30 * NSEC_PER_SEC)
/* With each listing for its age, one part of the files is opened anew: what was mounted over one
 * counts after five minutes at most. */
#define REOPEN_PARTS 10
#define NAMES_AGE_NS (60 * NSEC_PER_SEC)

#define COUNTER_DIRS 3
#define LEVEL_DEVICE 0 /* index into read_errors; ports follow by their index + 1 */

struct counter_reader {
	char *root; /* /sys, or a tree that looks like it */
	char *path; /* of the device's directory */
	char name[FACT_NAME];
	bool poked;
	bool any_read; /* in this round */
	bool told;     /* of changes of links, by counter_reader_link() */
	bool edited;   /* whichever files there are may be others by now */
	uint64_t state_read_ns, names_read_ns, listed_ns; /* 0: never */
	uint64_t configs_read_ns;
	uint64_t news_ns; /* when something changed, or the first round was */
	dev_t dir_dev;
	ino_t dir_ino; /* of the device's directory: another device has another */
	uint64_t success_wall_ns;
	struct reset_log resets;
	struct read_failures failures;
	uint64_t errors[PORT_MAX + 1][READ_ERROR_COUNT];
	struct device_fact device;
	uint32_t n_ports, ports_dropped;
	struct port_reader ports[PORT_MAX]; /* by number */
	struct gid_table gids;
	struct counter_set set;
	struct dir_stamp ports_stamp, stamps[PORT_MAX + 1][COUNTER_DIRS]; /* of a plain tree */
	uint32_t listings;
	uint32_t list_dropped;	 /* files that found no room */
	uint32_t values_dropped; /* those, and statistics of netdevs */
	struct port_setup setup;
	struct netdev_reader netdevs;
	bool ask_netlink;
	struct counter_netlink netlink;
};

static const struct {
	enum counter_source source;
	const char *dir;
} port_dirs[COUNTER_DIRS] = {
	{SOURCE_COUNTERS, "counters"},
	{SOURCE_COUNTERS_EXT, "counters_ext"},
	{SOURCE_HW_COUNTERS, "hw_counters"},
};

static bool device_name_valid(const char *name)
{
	return name[0] && name[0] != '.' && !strchr(name, '/') && strlen(name) < FACT_NAME;
}

struct counter_reader *counter_reader_new(const char *sysfs_root, const char *device)
{
	struct counter_reader *r;

	if (!device_name_valid(device)) {
		errno = EINVAL;
		return NULL;
	}
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	name_copy(r->name, sizeof(r->name), device);
	counter_netlink_init(&r->netlink);
	port_setup_init(&r->setup, strcmp(sysfs_root, "/sys") == 0);
	r->root = strdup(sysfs_root);
	if (!r->root || asprintf(&r->path, "%s/class/infiniband/%s", sysfs_root, device) < 0) {
		free(r->root);
		free(r);
		errno = ENOMEM;
		return NULL;
	}
	return r;
}

void counter_reader_free(struct counter_reader *r)
{
	if (!r)
		return;
	netdev_reader_close(&r->netdevs);
	counter_set_clear(&r->set);
	port_setup_close(&r->setup);
	free(r->root);
	counter_netlink_close(&r->netlink);
	free(r->path);
	free(r);
}

void counter_reader_set_netdev_stats(struct counter_reader *r, uint32_t max)
{
	r->netdevs.max = max;
}

void counter_reader_poke(struct counter_reader *r)
{
	r->poked = true;
}

void counter_reader_set_netlink(struct counter_reader *r, bool ask)
{
	r->ask_netlink = ask;
}

void counter_reader_set_told(struct counter_reader *r, bool told)
{
	r->told = told;
}

static bool is_leg(const struct port_fact *f, const char *netdev)
{
	unsigned n = port_fact_legs(f);

	for (unsigned i = 0; i < n; i++)
		if (strcmp(f->config.members[i], netdev) == 0)
			return true;
	return false;
}

bool counter_reader_link(struct counter_reader *r, const char *netdev)
{
	bool mine = false;

	for (uint32_t i = 0; i < r->n_ports; i++) {
		const struct port_fact *f = &r->ports[i].fact;

		if (!netdev || strcmp(f->netdev, netdev) == 0 || is_leg(f, netdev)) {
			r->configs_read_ns = r->state_read_ns = r->listed_ns = 0;
			mine = true;
		} else if (f->netdev[0] && if_nametoindex(f->netdev) == 0) {
			/* This may be its new name. */
			r->names_read_ns = 0;
			mine = true;
		}
	}
	return mine;
}

/* Keeps what is known of a port that stays; ports are few and hardly ever change. */
static bool port_insert(struct counter_reader *r, uint8_t port)
{
	uint32_t at = 0;

	while (at < r->n_ports && r->ports[at].fact.port < port)
		at++;
	if (at < r->n_ports && r->ports[at].fact.port == port)
		return false;
	/* The first ones stay, in whatever order they come: with many, those after the first stand
	 * for virtual functions (switchdev). */
	if (r->n_ports == PORT_MAX) {
		r->ports_dropped++;
		if (at == PORT_MAX)
			return false;
		r->n_ports--;
	}
	memmove(&r->ports[at + 1], &r->ports[at], (r->n_ports - at) * sizeof(r->ports[0]));
	r->ports[at] = (struct port_reader){.fact.port = port};
	r->n_ports++;
	return true;
}

static bool port_present(int dev_fd, uint8_t port)
{
	char path[SYSFS_PATH];
	struct stat st;

	snprintf(path, sizeof(path), "ports/%u", port);
	return fstatat(dev_fd, path, &st, 0) == 0;
}

static bool ports_forget(struct counter_reader *r, int dev_fd)
{
	uint32_t kept = 0, before = r->n_ports;

	for (uint32_t i = 0; i < before; i++) {
		if (port_present(dev_fd, r->ports[i].fact.port))
			r->ports[kept++] = r->ports[i];
	}
	r->n_ports = kept;
	return kept != before;
}

/* True when the set of ports is not that of the round before. */
static bool ports_list(struct counter_reader *r, int dev_fd)
{
	bool changed = ports_forget(r, dev_fd);
	struct sysfs_dir dir;
	const char *name;
	uint8_t port;
	int error;

	r->ports_dropped = 0;
	error = sysfs_dir_open(&dir, dev_fd, "ports");
	if (error == 0) {
		while ((name = sysfs_dir_next(&dir, &error))) {
			if (sysfs_port_number(name, &port))
				changed |= port_insert(r, port);
		}
		sysfs_dir_close(&dir);
	}
	if (error < 0 && error != -ENOENT)
		r->errors[LEVEL_DEVICE][sysfs_error_class(error)]++;
	return changed;
}

static void states_read(struct counter_reader *r, int dev_fd, uint64_t now_ns)
{
	for (uint32_t i = 0; i < r->n_ports; i++)
		r->any_read |=
			port_reader_run(&r->ports[i], dev_fd, r->errors[i + 1], &r->failures);
	r->state_read_ns = now_ns;
}

static void netdev_name_read(struct counter_reader *r, int dev_fd, struct port_fact *f)
{
	const char *of_gid = gid_table_netdev(&r->gids, f->port);

	if (of_gid[0])
		name_copy(f->netdev, sizeof(f->netdev), of_gid);
	else
		device_port_netdev(dev_fd, f->port, r->n_ports, f->netdev);
}

static void configs_read(struct counter_reader *r, uint64_t now_ns)
{
	int root_fd = open(r->root, O_PATH | O_DIRECTORY | O_CLOEXEC);

	r->configs_read_ns = now_ns;
	if (root_fd < 0)
		return;
	for (uint32_t i = 0; i < r->n_ports; i++)
		port_setup_read(&r->setup, root_fd, r->name, &r->ports[i].fact, r->errors[i + 1]);
	close(root_fd);
}

/* The kernel calls the GIDs of iWARP, which are MAC addresses, "IB/RoCE v1" as well. */
static enum link_layer gid_layer(const struct counter_reader *r, const struct port_fact *f)
{
	return r->device.is_iwarp ? LINK_LAYER_UNKNOWN : (enum link_layer)f->link_layer;
}

/* A change of a GID comes as an event, and that as a poke. */
static void names_read(struct counter_reader *r, int dev_fd, uint64_t now_ns, bool anew)
{
	bool all_gids = anew || !r->told || r->names_read_ns == 0;

	r->any_read |= device_fact_read(&r->device, r->name, dev_fd, r->errors[LEVEL_DEVICE]);
	pci_link_read(&r->device, dev_fd, r->errors[LEVEL_DEVICE]);
	gid_table_clear(&r->gids);
	for (uint32_t i = 0; i < r->n_ports; i++) {
		struct port_fact *f = &r->ports[i].fact;

		gid_table_scan(&r->gids, dev_fd, f->port, gid_layer(r, f), all_gids,
			       r->errors[i + 1]);
		netdev_name_read(r, dev_fd, f);
		/* Their number tells of nearly all changes; this is for the rest. */
		netdev_reader_stale(&r->netdevs, i);
	}
	r->configs_read_ns = 0;
	r->names_read_ns = now_ns;
}

static bool is_due(uint64_t last_ns, uint64_t now_ns, uint64_t age_ns)
{
	return last_ns == 0 || now_ns - last_ns >= age_ns;
}

static bool list_due(const struct counter_reader *r, uint64_t now_ns)
{
	return r->edited || r->poked || is_due(r->listed_ns, now_ns, LIST_AGE_NS);
}

static uint64_t state_age(const struct counter_reader *r, uint64_t now_ns)
{
	return r->told && now_ns - r->news_ns > SETTLE_NS ? STATE_AGE_TOLD_NS : STATE_AGE_NS;
}

static void facts_read(struct counter_reader *r, int dev_fd, uint64_t now_ns, bool list)
{
	bool anew = r->poked;

	if (list)
		anew |= ports_list(r, dev_fd);
	if (r->poked) {
		counter_set_retry(&r->set);
		for (uint32_t i = 0; i < r->n_ports; i++)
			port_reader_retry(&r->ports[i]);
		netdev_reader_retry(&r->netdevs);
	}
	r->poked = false;
	if (anew || r->state_read_ns == 0)
		r->news_ns = now_ns;
	/* States first: the link layer says what "IB/RoCE v1" is. */
	if (anew || is_due(r->state_read_ns, now_ns, state_age(r, now_ns)))
		states_read(r, dev_fd, now_ns);
	if (anew || is_due(r->names_read_ns, now_ns, NAMES_AGE_NS))
		names_read(r, dev_fd, now_ns, anew);
	if (r->configs_read_ns == 0)
		configs_read(r, now_ns);
	/* News of a link bring a listing as well. */
	for (uint32_t i = 0; list && i < r->n_ports; i++)
		port_setup_links(&r->setup, &r->ports[i].fact, r->errors[i + 1]);
}

static void source_path(char *ret, size_t size, uint8_t port, enum counter_source source,
			const char *name)
{
	if (port)
		snprintf(ret, size, "ports/%u/%s/%s", port, counter_source_name(source), name);
	else
		snprintf(ret, size, "%s/%s", counter_source_name(source), name);
}

/* The files of one directory into the set, at most *room of them, which shrinks. */
static int dir_list(struct counter_reader *r, int dev_fd, uint8_t port, enum counter_source source,
		    uint32_t *room)
{
	struct sysfs_dir dir;
	char path[SYSFS_PATH];
	const char *name;
	int error;

	source_path(path, sizeof(path), port, source, "");
	error = sysfs_dir_open(&dir, dev_fd, path);
	if (error < 0)
		return error;
	while ((name = sysfs_dir_next(&dir, &error))) {
		if (counter_row_of(source, name)->kind == KIND_SETTING)
			continue;
		if (*room > 0 && strlen(name) < FACT_NAME &&
		    counter_set_see(&r->set, port, source, name))
			(*room)--;
		else
			r->list_dropped++;
	}
	sysfs_dir_close(&dir);
	return error;
}

/* Absence is normal: which directories exist is what tells devices apart. */
static void level_list(struct counter_reader *r, int dev_fd, uint8_t port, size_t level)
{
	/* A port with a flood of counters must not crowd out the others. */
	uint32_t room = COUNTER_MAX / (r->n_ports + 1);

	for (size_t i = 0; i < COUNTER_DIRS; i++) {
		int error = dir_list(r, dev_fd, port, port_dirs[i].source, &room);

		if (error < 0 && error != -ENOENT)
			r->errors[level][sysfs_error_class(error)]++;
	}
}

static void counters_list(struct counter_reader *r, int dev_fd, uint64_t now_ns)
{
	r->listed_ns = now_ns;
	r->list_dropped = 0;
	counter_set_begin(&r->set);
	level_list(r, dev_fd, 0, LEVEL_DEVICE);
	for (uint32_t i = 0; i < r->n_ports; i++)
		level_list(r, dev_fd, r->ports[i].fact.port, i + 1);
	counter_set_end(&r->set);
}

/* All directories are looked at, for each gets its stamp. */
static bool level_changed(struct counter_reader *r, int dev_fd, uint8_t port, size_t level,
			  uint64_t wall_ns)
{
	bool changed = false;

	for (size_t i = 0; i < COUNTER_DIRS; i++) {
		char path[SYSFS_PATH];

		source_path(path, sizeof(path), port, port_dirs[i].source, "");
		changed |=
			!dir_stamp_renew(&r->stamps[level][i], r->dir_dev, dev_fd, path, wall_ns);
	}
	return changed;
}

/* Before anything is listed: what changes during that shows the next time. */
static bool tree_changed(struct counter_reader *r, int dev_fd, uint64_t wall_ns)
{
	bool changed = !dir_stamp_renew(&r->ports_stamp, r->dir_dev, dev_fd, "ports", wall_ns);

	changed |= level_changed(r, dev_fd, 0, LEVEL_DEVICE, wall_ns);
	for (uint32_t i = 0; i < r->n_ports; i++)
		changed |= level_changed(r, dev_fd, r->ports[i].fact.port, i + 1, wall_ns);
	return changed;
}

static void release_due(struct counter_reader *r, enum held_tree tree)
{
	if (r->edited || r->poked || r->listed_ns == 0)
		counter_set_release(&r->set);
	else
		counter_set_release_part(&r->set, r->listings++ % REOPEN_PARTS, REOPEN_PARTS);
	r->set.held.max = tree == TREE_OTHER ? 0 : held_limit();
	r->set.held.dev = r->dir_dev;
}

static size_t level_of(const struct counter_reader *r, uint8_t port)
{
	for (uint32_t i = 0; i < r->n_ports; i++) {
		if (r->ports[i].fact.port == port)
			return i + 1;
	}
	return LEVEL_DEVICE;
}

static void file_failed(struct counter_reader *r, struct counter_file *f, enum read_error error)
{
	if (!f->failing)
		read_failures_note(&r->failures, f->port, f->source, f->name, error);
	f->failing = true;
	f->skip = COUNTER_RETRY_ROUNDS - 1;
	r->errors[level_of(r, f->port)][error]++;
}

static void file_note(struct counter_reader *r, struct counter_file *f, uint64_t value)
{
	if (f->has_last && f->row->kind == KIND_COUNTER &&
	    counter_delta(f->row->width, f->last, value).step == STEP_RESET)
		reset_log_add(&r->resets,
			      &(struct counter_reset){.before = f->last,
						      .now = value,
						      .port = f->port,
						      .source = f->source},
			      f->name);
	f->has_last = true;
	f->failing = false;
	f->last = value;
	r->any_read = true;
}

static bool file_read(struct counter_reader *r, int dev_fd, struct counter_file *f)
{
	char path[SYSFS_PATH], text[SYSFS_TEXT];
	uint64_t value;
	int n;

	if (f->skip > 0) {
		f->skip--;
		return false;
	}
	n = f->held.number ? held_read(&f->held, &r->set.held, text, sizeof(text)) : -ENODEV;
	/* It is not held, or left and may be back. */
	if (n == -ENODEV) {
		source_path(path, sizeof(path), f->port, f->source, f->name);
		n = held_open_read(&f->held, &r->set.held, dev_fd, path, text, sizeof(text));
	}
	if (n == -ENOENT) {
		r->listed_ns = 0;
		return false;
	}
	if (n < 0) {
		file_failed(r, f, sysfs_error_class(n));
		return false;
	}
	if (!sysfs_counter(text, &value)) {
		file_failed(r, f, READ_PARSE);
		return false;
	}
	file_note(r, f, value);
	return true;
}

static void counters_read(struct counter_reader *r, int dev_fd, struct counter_round *round)
{
	for (uint32_t i = 0; i < r->set.n; i++) {
		struct counter_file *f = &r->set.files[i];
		struct counter_value *v = &round->values[round->n_values];

		if (!file_read(r, dev_fd, f))
			continue;
		*v = (struct counter_value){.value = f->last, .port = f->port, .source = f->source};
		memcpy(v->name, f->name, sizeof(v->name));
		if (counter_saturated(f->row->width, f->last))
			v->flags = COUNTER_SATURATED;
		round->n_values++;
	}
	if (r->set.held.ran_out) {
		counter_set_release(&r->set);
		r->set.held.max = 0; /* until the next listing */
	}
}

static void netdevs_read(struct counter_reader *r, struct counter_round *round)
{
	int error = r->netdevs.max ? netdev_reader_ready(&r->netdevs) : 0;

	if (error < 0)
		r->errors[LEVEL_DEVICE][sysfs_error_class(error)]++;
	for (uint32_t i = 0; error == 0 && r->netdevs.max && i < r->n_ports; i++) {
		struct netdev_sink to = {.round = round,
					 .dropped = &r->values_dropped,
					 .resets = &r->resets,
					 .errors = r->errors[i + 1]};

		switch (netdev_reader_run(&r->netdevs, i, &r->ports[i].fact, &to)) {
		case NETDEV_AS_KNOWN:
			break;
		case NETDEV_GONE: /* see what sysfs says */
			r->names_read_ns = 0;
			break;
		case NETDEV_LEG_GONE:
			r->configs_read_ns = 0;
			break;
		}
	}
}

static void optional_note(struct counter_reader *r, const struct optional_counter *c, uint8_t port)
{
	if (c->has_before && c->row->kind == KIND_COUNTER &&
	    counter_delta(c->row->width, c->before, c->value).step == STEP_RESET)
		reset_log_add(&r->resets,
			      &(struct counter_reset){.before = c->before,
						      .now = c->value,
						      .port = port,
						      .source = SOURCE_OPTIONAL},
			      c->name);
}

static void optional_tell(struct counter_reader *r, const struct optional_counters *o, uint8_t port,
			  struct counter_round *round)
{
	for (uint32_t i = 0; i < o->n; i++) {
		const struct optional_counter *c = &o->counter[i];
		struct counter_value *v = &round->values[round->n_values];

		if (!c->told)
			continue;
		optional_note(r, c, port);
		if (round->n_values == COUNTER_MAX) {
			r->values_dropped++;
			continue;
		}
		*v = (struct counter_value){
			.value = c->value, .port = port, .source = SOURCE_OPTIONAL};
		memcpy(v->name, c->name, sizeof(v->name));
		round->n_values++;
	}
	r->values_dropped += o->dropped;
}

static void netlink_list(struct counter_reader *r, uint64_t wall_ns)
{
	uint8_t ports[PORT_MAX];

	for (uint32_t i = 0; i < r->n_ports; i++)
		ports[i] = r->ports[i].fact.port;
	counter_netlink_list(&r->netlink, r->name, r->device.pci_address, ports, r->n_ports,
			     wall_ns, r->errors);
}

/* As old as the listing of files: whatever makes that one new makes this one. */
static void netlink_read(struct counter_reader *r, struct counter_round *round, uint64_t wall_ns,
			 bool listed)
{
	if (!r->ask_netlink)
		return;
	if (listed)
		netlink_list(r, wall_ns);
	for (uint32_t i = 0; i < r->n_ports; i++) {
		uint8_t port = r->ports[i].fact.port;

		if (!counter_netlink_read(&r->netlink, r->name, i, port))
			r->listed_ns = 0;
		else if (i < r->netlink.n_ports)
			optional_tell(r, &r->netlink.ports[i], port, round);
	}
}

static void round_begin(const struct counter_reader *r, struct counter_round *round,
			uint64_t now_ns, uint64_t wall_ns)
{
	round->mono_ns = now_ns;
	round->wall_ns = wall_ns;
	round->success_wall_ns = r->success_wall_ns;
	round->n_ports = round->n_gids = round->n_values = 0;
	round->ports_dropped = round->gids_dropped = round->values_dropped = 0;
}

static void round_end(struct counter_reader *r, struct counter_round *round, uint64_t wall_ns)
{
	if (r->any_read)
		r->success_wall_ns = wall_ns;
	round->success_wall_ns = r->success_wall_ns;
	round->resets_seen = r->resets.seen;
	memcpy(round->resets, r->resets.kept, sizeof(round->resets));
	round->failures = r->failures;
	memcpy(round->read_errors, r->errors, sizeof(round->read_errors));
	round->device = r->device;
	name_copy(round->device.name, sizeof(round->device.name), r->name);
	counter_netlink_tell(&r->netlink, &round->device);
}

static void round_fill(const struct counter_reader *r, struct counter_round *round)
{
	for (uint32_t i = 0; i < r->n_ports; i++)
		round->ports[i] = r->ports[i].fact;
	round->n_ports = r->n_ports;
	round->ports_dropped = r->ports_dropped;
	memcpy(round->gids, r->gids.gids, r->gids.n * sizeof(round->gids[0]));
	round->n_gids = r->gids.n;
	round->gids_dropped = r->gids.dropped;
	round->values_dropped = r->values_dropped;
}

static void forget(struct counter_reader *r)
{
	counter_set_clear(&r->set);
	counter_netlink_forget(&r->netlink);
	r->n_ports = r->gids.n = 0;
	r->device = (struct device_fact){0};
	r->state_read_ns = r->names_read_ns = r->listed_ns = 0;
}

/* Nothing of a device that left may outlive it, nor greet one that comes back by its name. */
static int device_gone(struct counter_reader *r, struct counter_round *round, uint64_t now_ns,
		       uint64_t wall_ns)
{
	forget(r);
	r->any_read = false;
	round_begin(r, round, now_ns, wall_ns);
	round_end(r, round, wall_ns);
	return -ENODEV;
}

static bool gone(int error)
{
	return error == ENOENT || error == ENODEV || error == ENOTDIR;
}

/* It left and came back since the last round, with counters that began anew. */
static void look_whose(struct counter_reader *r, int dev_fd)
{
	struct stat st;

	if (fstat(dev_fd, &st) < 0 || (st.st_ino == r->dir_ino && st.st_dev == r->dir_dev))
		return;
	r->dir_ino = st.st_ino;
	r->dir_dev = st.st_dev;
	counter_set_release(&r->set);
	r->state_read_ns = r->names_read_ns = r->listed_ns = 0;
}

static void read_all(struct counter_reader *r, int dev_fd, struct counter_round *round,
		     uint64_t now_ns, uint64_t wall_ns)
{
	enum held_tree tree = held_tree(dev_fd);
	bool list;

	look_whose(r, dev_fd);
	/* Elsewhere files come and go as somebody likes. */
	r->edited = tree == TREE_OTHER || (tree == TREE_PLAIN && tree_changed(r, dev_fd, wall_ns));
	list = list_due(r, now_ns);
	if (list)
		release_due(r, tree);
	facts_read(r, dev_fd, now_ns, list);
	if (list)
		counters_list(r, dev_fd, now_ns);
	r->values_dropped = r->list_dropped;
	counters_read(r, dev_fd, round);
	netdevs_read(r, round);
	netlink_read(r, round, wall_ns, list);
}

int counter_reader_run(struct counter_reader *r, struct counter_round *round, uint64_t now_ns,
		       uint64_t wall_ns)
{
	int dev_fd = open(r->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	r->any_read = false;
	round_begin(r, round, now_ns, wall_ns);
	if (dev_fd < 0) {
		if (gone(errno))
			return device_gone(r, round, now_ns, wall_ns);
		r->errors[LEVEL_DEVICE][sysfs_error_class(-errno)]++;
		round_end(r, round, wall_ns);
		return 0;
	}
	read_all(r, dev_fd, round, now_ns, wall_ns);
	close(dev_fd);
	/* It may have left while we read: what was got is then half of something. */
	if (stat(r->path, &st) < 0 && gone(errno))
		return device_gone(r, round, now_ns, wall_ns);
	round_fill(r, round);
	round_end(r, round, wall_ns);
	return 0;
}
