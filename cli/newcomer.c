#include "cli/newcomer.h"

#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/table.h"
#include "cli/value.h"

enum column {
	COL_RAIL,
	COL_DEVICE,
	COL_PORT,
	COL_NETDEV,
	COL_ADDRESS,
	COL_GID,
	COL_TYPE,
	COL_COUNT
};

static const char *const titles[COL_COUNT] = {
	[COL_RAIL] = "RAIL",	 [COL_DEVICE] = "DEVICE",   [COL_PORT] = "PORT",
	[COL_NETDEV] = "NETDEV", [COL_ADDRESS] = "ADDRESS", [COL_GID] = "GID",
	[COL_TYPE] = "TYPE",
};

typedef void (*port_fn)(void *arg, const json_t *device, const json_t *port);

static void each_rail(const json_t *devices, port_fn fn, void *arg)
{
	json_t *device, *port;
	size_t i, k;

	json_array_foreach(devices, i, device)
	{
		json_array_foreach(value_array(device, "ports"), k, port)
		{
			if (value_text(port, "rail", "")[0])
				fn(arg, device, port);
		}
	}
}

static void put_port(struct text_table *t, const json_t *device, const json_t *port)
{
	char number[24];

	snprintf(number, sizeof(number), "%llu", (unsigned long long)value_u64(port, "port", 0));
	text_table_row(t);
	text_table_cell(t, COL_RAIL, value_text(port, "rail", ""));
	text_table_cell(t, COL_DEVICE, value_text(device, "device", ""));
	text_table_cell(t, COL_PORT, number);
	text_table_cell(t, COL_NETDEV, value_text(port, "netdev", ""));
	text_table_cell(t, COL_ADDRESS, value_text(port, "address", ""));
}

/* A line for each GID: which one is used depends on the address and the peers'. */
static void put_rail(void *arg, const json_t *device, const json_t *port)
{
	struct text_table *t = arg;
	json_t *gid;
	size_t i;

	if (!json_array_size(value_array(port, "gids")))
		put_port(t, device, port);
	json_array_foreach(value_array(port, "gids"), i, gid)
	{
		put_port(t, device, port);
		text_table_cell(t, COL_GID, value_text(gid, "gid", ""));
		text_table_cell(t, COL_TYPE, value_text(gid, "type", ""));
	}
}

/* A link-local address needs the interface of the host that reads the line, not of this one. */
static void print_peer(void *arg, const json_t *device, const json_t *port)
{
	const char *address = value_text(port, "address", ""), *zone = strchr(address, '%');
	struct strbuf line = {0};

	(void)device;
	if (!address[0])
		return;
	strbuf_printf(&line, "%speer = %s/%s %.*s%s", zone ? "#" : "", (const char *)arg,
		      value_text(port, "rail", ""),
		      zone ? (int)(zone - address) : (int)strlen(address), address,
		      zone ? "%INTERFACE-THERE" : "");
	command_print_line(line.data ? line.data : "");
	strbuf_free(&line);
}

void newcomer_print(const struct cli_options *o, const char *host)
{
	struct text_table *t;
	struct answer a;
	json_t *devices;

	if (!command_fetch(o, "/api/v1/devices", &a))
		return;
	devices = value_array(a.json, "devices");
	t = text_table_new(COL_COUNT, titles);
	if (t)
		each_rail(devices, put_rail, t);
	if (t && !text_table_rows(t)) {
		text_table_free(t);
		puts("\nNo port of this host is a rail: 'rdma-pingmesh devices' shows what there "
		     "is.");
		answer_free(&a);
		return;
	}
	puts("\nThis host has no peers. Its rails:");
	command_print_table(t);
	puts("\nFor the configuration of the others (the same file may serve all hosts, this one "
	     "too):\n"
	     "[peers]");
	each_rail(devices, print_peer, (void *)host);
	answer_free(&a);
}
