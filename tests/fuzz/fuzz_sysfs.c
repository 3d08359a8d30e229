/* Texts of sysfs files and of /proc/PID/statm, and names of files there. */
#include <stdlib.h>
#include <string.h>

#include "core/statm.h"
#include "exporters/metric_name.h"
#include "fuzz.h"
#include "probes/counter_name.h"
#include "probes/counter_table.h"
#include "probes/netdev_stats.h"
#include "probes/pci_link.h"
#include "probes/sysfs_value.h"

static void values(const char *text)
{
	char name[32], line[64];
	uint8_t gid[16], port;
	uint32_t number, lanes;
	uint64_t v;

	sysfs_first_line(text, line, sizeof(line));
	must_hold(strlen(line) < sizeof(line) && !strchr(line, '\n'));
	sysfs_counter(text, &v);
	if (sysfs_state(text, &number, name, sizeof(name)))
		must_hold(strlen(name) < sizeof(name));
	sysfs_rate(text, &v);
	if (sysfs_lanes(text, &lanes))
		must_hold(lanes > 0 && lanes <= 64);
	sysfs_gid(text, gid);
	sysfs_gid_type(text, LINK_LAYER_ETHERNET);
	sysfs_link_layer(text);
	sysfs_guid_zero(text);
	sysfs_pci_address(text);
	must_hold(pci_link_speed(text) < 1000 * 1000);
	if (sysfs_port_number(text, &port))
		must_hold(port >= 1);
}

static void rows(const char *name)
{
	for (unsigned source = 0; source <= COUNTER_SOURCE_COUNT; source++) {
		const char *plain = counter_plain_name(source, name);
		int priority = counter_row_priority(counter_row_of(source, name), plain);

		must_hold(plain >= name && plain <= name + strlen(name));
		must_hold(priority >= -1 && priority <= 7);
	}
}

/* As a driver leaves it in its place: any bytes, maybe without an end. */
static void netdev_names(const uint8_t *data, size_t size)
{
	char raw[ETHTOOL_NAME] = {0}, name[ETHTOOL_NAME + 1];

	memcpy(raw, data, size < sizeof(raw) ? size : sizeof(raw));
	netdev_stat_name(raw, name);
	must_hold(strlen(name) <= ETHTOOL_NAME);
	must_hold(name[0] != ' ' && (!name[0] || name[strlen(name) - 1] != ' '));
	for (const char *c = name; *c; c++)
		must_hold(*c >= ' ' && *c <= '~');
	metric_name_usable(METRIC_NETDEV, name, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	uint64_t size_bytes, rss;

	memcpy(text, data, size);
	text[size] = '\0';
	values(text);
	rows(text);
	netdev_names(data, size);
	statm_parse(text, 4096, &size_bytes, &rss);
	metric_name_usable(METRIC_PORT, text, true);
	metric_name_usable(METRIC_DEVICE, text, false);
	free(text);
	return 0;
}
