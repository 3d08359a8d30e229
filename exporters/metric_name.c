#include "exporters/metric_name.h"

#include <stddef.h>
#include <string.h>

#include "probes/counter_name.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Name space of our own families, now and later: a vendor's counter never enters it. */
static const char *const reserved_prefixes[] = {
	"async_",
	"connection_",
	"counters_",
	"loopback_",
	"netdev_",
	"pfc_",
	"priority_",
	"device_",
	"finding",
	"leg_",
	"hw_stat",
	"mesh_",
	"path_",
	"peer_",
	"pingmesh_",
	"probe_",
	"qp_drains",
	"rail_",
	"rails_",
	"saturated",
	"session_",
	"sysfs_",
	"worker_",
	"port_info",
	"port_state_id",
	"port_physical_state_id",
	"port_rate_bytes_per_second",
	"port_rcv_data_bytes",
	"port_xmit_data_bytes",
};

/* What promtool's lint takes for a unit that is not a base unit, an abbreviated unit or the type
 * of a metric, when it stands between underscores. */
static const char *const rejected_words[] = {
	"minutes", "hours", "days", "weeks",	"kelvins", "fahrenheit", "rankine", "inches",
	"yards",   "miles", "bits", "calories", "pounds",  "ounces",	 "s",	    "ms",
	"us",	   "ns",    "sec",  "b",	"kb",	   "mb",	 "gb",	    "tb",
	"pb",	   "m",	    "h",    "d",	"counter", "gauge",	 "summary", "histogram",
};

static const char *const unit_prefixes[] = {
	"pico", "nano", "micro", "milli", "centi", "deci", "deca", "hecto", "kilo",
	"kibi", "mega", "mibi",	 "giga",  "gibi",  "tera", "tebi", "peta",  "pebi",
};

static const char *const units[] = {
	"amperes", "bytes",  "celsius", "grams", "joules", "kelvin",
	"meters",  "metres", "seconds", "volts", "bits",
};

/* Endings by which the formats tell apart the series of one family. */
static const char *const rejected_endings[] = {
	"_total", "_created", "_bucket", "_sum", "_count", "_info",
};

static bool word_is(const char *word, size_t len, const char *text)
{
	return strlen(text) == len && memcmp(word, text, len) == 0;
}

static bool is_prefixed_unit(const char *word, size_t len)
{
	for (size_t i = 0; i < COUNT(unit_prefixes); i++) {
		size_t skip = strlen(unit_prefixes[i]);

		if (len <= skip || memcmp(word, unit_prefixes[i], skip) != 0)
			continue;
		for (size_t k = 0; k < COUNT(units); k++) {
			if (word_is(word + skip, len - skip, units[k]))
				return true;
		}
	}
	return false;
}

static bool is_rejected_word(const char *word, size_t len)
{
	for (size_t i = 0; i < COUNT(rejected_words); i++) {
		if (word_is(word, len, rejected_words[i]))
			return true;
	}
	return is_prefixed_unit(word, len);
}

static bool has_rejected_word(const char *name)
{
	size_t len;

	for (const char *word = name; *word; word += len + (word[len] == '_')) {
		len = strcspn(word, "_");
		if (is_rejected_word(word, len))
			return true;
	}
	return false;
}

static bool has_rejected_ending(const char *name, bool gauge)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < COUNT(rejected_endings); i++) {
		size_t end = strlen(rejected_endings[i]);
		/* A counter's own ending follows; only these two would still be misread. */
		bool matters = gauge || i < 2;

		if (matters && len > end && strcmp(name + len - end, rejected_endings[i]) == 0)
			return true;
	}
	return false;
}

static bool is_reserved(enum metric_scope scope, const char *name)
{
	if (scope == METRIC_DEVICE) /* no family of ours begins with rdma_device_ */
		return false;
	if (scope == METRIC_NETDEV)
		return strcmp(name, "stat") == 0;
	for (size_t i = 0; i < COUNT(reserved_prefixes); i++) {
		if (strncmp(name, reserved_prefixes[i], strlen(reserved_prefixes[i])) == 0)
			return true;
	}
	return false;
}

bool metric_name_usable(enum metric_scope scope, const char *name, bool gauge)
{
	return counter_name_plain(name) && !has_rejected_word(name) &&
	       !has_rejected_ending(name, gauge) && !is_reserved(scope, name);
}

bool metric_name_free(const char *name)
{
	return counter_name_plain(name) && !has_rejected_ending(name, false) &&
	       !is_reserved(METRIC_PORT, name);
}
