#include <stdio.h>
#include <string.h>

#include "cli/list.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/value.h"

enum column {
	COL_DEVICE,
	COL_VERDICT,
	COL_WORKER,
	COL_FOR,
	COL_RESTARTS,
	COL_PORT,
	COL_RAIL,
	COL_NETDEV,
	COL_LINK,
	COL_STATE,
	COL_RATE,
	COL_HEALTH,
	COL_COUNT,
};

static const char *const titles[COL_COUNT] = {
	[COL_DEVICE] = "DEVICE", [COL_VERDICT] = "VERDICT",   [COL_WORKER] = "WORKER",
	[COL_FOR] = "FOR",	 [COL_RESTARTS] = "RESTARTS", [COL_PORT] = "PORT",
	[COL_RAIL] = "RAIL",	 [COL_NETDEV] = "NETDEV",     [COL_LINK] = "LINK",
	[COL_STATE] = "STATE",	 [COL_RATE] = "RATE",	      [COL_HEALTH] = "HEALTH",
};

static void put_number(struct text_table *t, size_t column, const json_t *object, const char *key)
{
	char buf[TEXT_SHORT];

	snprintf(buf, sizeof(buf), "%llu", (unsigned long long)value_u64(object, key, 0));
	text_table_cell(t, column, buf);
}

static void put_device(struct text_table *t, const json_t *device, double now)
{
	const json_t *worker = value_object(device, "worker");
	char buf[TEXT_SHORT];
	double since;

	text_table_cell(t, COL_DEVICE, value_text(device, "device", "?"));
	text_table_cell(t, COL_VERDICT, value_text(device, "verdict", ""));
	text_table_cell(t, COL_WORKER, value_text(worker, "state", ""));
	if (value_double(worker, "since", &since))
		text_table_cell(t, COL_FOR, text_duration(now - since, buf));
	put_number(t, COL_RESTARTS, worker, "restarts");
}

static void put_port(struct text_table *t, const json_t *port)
{
	uint64_t rate = value_u64(port, "rate_bytes_per_second", UINT64_MAX);
	uint64_t expected =
		value_u64(value_object(port, "facts"), "expected_rate_bytes_per_second", 0);
	char buf[TEXT_SHORT];

	put_number(t, COL_PORT, port, "port");
	text_table_cell(t, COL_RAIL, value_text(port, "rail", ""));
	text_table_cell(t, COL_NETDEV, value_text(port, "netdev", ""));
	text_table_cell(t, COL_LINK, value_text(port, "link_layer", ""));
	text_table_cell(t, COL_STATE, value_text(port, "state", ""));
	if (rate != UINT64_MAX)
		text_table_cell(t, COL_RATE, text_rate(rate, expected, buf));
	text_table_cell(t, COL_HEALTH, value_text(port, "verdict", ""));
}

/* One line a port; a device whose ports are not known has one all the same. */
static void put_rows(struct text_table *t, const json_t *device, double now)
{
	json_t *ports = value_array(device, "ports"), *port;
	size_t i;

	if (!json_array_size(ports)) {
		text_table_row(t);
		put_device(t, device, now);
	}
	json_array_foreach(ports, i, port)
	{
		text_table_row(t);
		put_device(t, device, now);
		put_port(t, port);
	}
}

static void tint(struct text_table *t)
{
	text_table_tint(t, COL_VERDICT);
	text_table_tint(t, COL_HEALTH);
}

static void name_device(const json_t *device, struct strbuf *out)
{
	strbuf_puts(out, value_text(device, "device", "?"));
}

enum cli_exit command_devices(const struct cli_options *o)
{
	static const struct list_view view = {
		.path = "/api/v1/devices",
		.member = "devices",
		.columns = COL_COUNT,
		.titles = titles,
		.put = put_rows,
		.tidy = tint,
		.name = name_device,
	};

	return list_show(o, &view);
}
