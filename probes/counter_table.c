#include "probes/counter_table.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

#define ROW(source_, name_, drivers_, width_, unit_, kind_, direction_, signal_, help_)            \
	{                                                                                          \
		.source = SOURCE_##source_,                                                        \
		.name = (name_),                                                                   \
		.drivers = (drivers_),                                                             \
		.width = WIDTH_##width_,                                                           \
		.unit = UNIT_##unit_,                                                              \
		.kind = KIND_##kind_,                                                              \
		.direction = DIRECTION_##direction_,                                               \
		.signal = (signal_),                                                               \
		.help = (help_),                                                                   \
	},

static const struct counter_row rows[] = {
#include "probes/counters_rdma.def"

#include "probes/counters_netdev.def"
};

/* By source; legs have the rows of SOURCE_ETHTOOL. counters_ext exists to be wide: every file of it
 * has 64 bits. */
static const struct counter_row unknown[SOURCE_LEG] = {
	[SOURCE_COUNTERS] = {.name = "", .drivers = "", .help = "", .source = SOURCE_COUNTERS},
	[SOURCE_COUNTERS_EXT] = {.name = "",
				 .drivers = "",
				 .help = "",
				 .source = SOURCE_COUNTERS_EXT,
				 .width = WIDTH_64},
	[SOURCE_HW_COUNTERS] = {.name = "",
				.drivers = "",
				.help = "",
				.source = SOURCE_HW_COUNTERS},
	[SOURCE_OPTIONAL] = {.name = "",
			     .drivers = "",
			     .help = "",
			     .source = SOURCE_OPTIONAL,
			     .width = WIDTH_64},
	[SOURCE_ETHTOOL] = {.name = "", .drivers = "", .help = "", .source = SOURCE_ETHTOOL},
};

static int compare(const void *a, const void *b)
{
	const struct counter_row *x = a, *y = b;

	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return strcmp(x->name, y->name);
}

static const struct counter_row *find(enum counter_source source, const char *name)
{
	struct counter_row key = {.source = source, .name = name};

	return bsearch(&key, rows, COUNT(rows), sizeof(rows[0]), compare);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A row whose name has `hole` where name has len characters from at on. */
static const struct counter_row *find_with(enum counter_source source, const char *name, size_t at,
					   size_t len, const char *hole)
{
	char text[FACT_NAME + 8];
	size_t hole_len = strlen(hole), rest = strlen(name + at + len);

	memcpy(text, name, at);
	memcpy(text + at, hole, hole_len);
	memcpy(text + at + hole_len, name + at + len, rest + 1);
	return find(source, text);
}

static const struct counter_row *find_numbered(enum counter_source source, const char *name)
{
	const struct counter_row *found = NULL;
	size_t len;

	for (size_t at = 0; name[at] && !found; at += len ? len : 1) {
		len = 0;
		while (is_digit(name[at + len]))
			len++;
		if (len == 1 && name[at] <= '7')
			found = find_with(source, name, at, 1, "{p}");
		if (len > 0 && !found)
			found = find_with(source, name, at, len, "{n}");
	}
	return found;
}

/* The row with the longest beginning of name that ends after an underscore. */
static const struct counter_row *find_beginning(enum counter_source source, const char *name)
{
	for (size_t at = strlen(name); at > 1; at--) {
		const struct counter_row *found;

		if (name[at - 1] != '_')
			continue;
		found = find_with(source, name, at, strlen(name) - at, "*");
		if (found)
			return found;
	}
	return NULL;
}

const char *counter_plain_name(enum counter_source source, const char *name)
{
	const char *slash = source == SOURCE_LEG ? strchr(name, '/') : NULL;

	return slash ? slash + 1 : name;
}

const struct counter_row *counter_row_of(enum counter_source source, const char *name)
{
	const struct counter_row *found;

	if (source == SOURCE_LEG) {
		name = counter_plain_name(source, name);
		source = SOURCE_ETHTOOL;
	}
	/* In switchdev mode mlx5 tells the same Q counters per representor. */
	if (source == SOURCE_HW_COUNTERS && strncmp(name, "vport_", strlen("vport_")) == 0)
		name += strlen("vport_");
	found = find(source, name);
	/* Longer ones come from nowhere: facts have no room for them. */
	if (!found && strlen(name) < FACT_NAME) {
		found = find_numbered(source, name);
		if (!found)
			found = find_beginning(source, name);
	}
	if (found)
		return found;
	return &unknown[(size_t)source < SOURCE_LEG ? source : SOURCE_HW_COUNTERS];
}

int counter_row_priority(const struct counter_row *row, const char *name)
{
	const char *hole = strstr(row->name, "{p}");
	size_t at = hole ? (size_t)(hole - row->name) : 0;

	if (!hole || strnlen(name, at + 1) <= at || name[at] < '0' || name[at] > '7')
		return -1;
	return name[at] - '0';
}

const struct counter_row *counter_rows(size_t *ret_n)
{
	*ret_n = COUNT(rows);
	return rows;
}

const char *counter_width_name(enum counter_width width)
{
	switch (width) {
	case WIDTH_EITHER:
		return "32 or 64";
	case WIDTH_32:
		return "32";
	case WIDTH_64:
		return "64";
	case WIDTH_STICKS_4:
		return "4, stops";
	case WIDTH_STICKS_8:
		return "8, stops";
	case WIDTH_STICKS_16:
		return "16, stops";
	case WIDTH_STICKS_32:
		return "32, stops";
	case WIDTH_64_OR_STICKS_32:
		return "64, or 32 and stops";
	}
	return "invalid";
}

const char *counter_unit_name(enum counter_unit unit)
{
	static const char *const names[COUNTER_UNIT_COUNT] = {
		[UNIT_NONE] = "",
		[UNIT_EVENTS] = "events",
		[UNIT_PACKETS] = "packets",
		[UNIT_FRAMES] = "frames",
		[UNIT_BYTES] = "bytes",
		[UNIT_WORDS] = "4-byte words",
		[UNIT_BITS] = "bits",
		[UNIT_SYMBOLS] = "symbols",
		[UNIT_BLOCKS] = "blocks",
		[UNIT_REQUESTS] = "requests",
		[UNIT_OBJECTS] = "objects",
		[UNIT_TICKS] = "ticks",
		[UNIT_SECONDS] = "seconds",
		[UNIT_MILLISECONDS] = "milliseconds",
		[UNIT_MICROSECONDS] = "microseconds",
		[UNIT_PERCENT] = "percent",
	};

	return (size_t)unit < COUNTER_UNIT_COUNT ? names[unit] : "invalid";
}

const char *counter_kind_name(enum counter_kind kind)
{
	switch (kind) {
	case KIND_COUNTER:
		return "counter";
	case KIND_GAUGE:
		return "gauge";
	case KIND_SETTING:
		return "setting";
	}
	return "invalid";
}

const char *counter_direction_name(enum counter_direction direction)
{
	switch (direction) {
	case DIRECTION_NONE:
		return "";
	case DIRECTION_RX:
		return "rx";
	case DIRECTION_TX:
		return "tx";
	}
	return "invalid";
}
