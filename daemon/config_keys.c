#include "daemon/config_keys.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/names.h"
#include "probes/wire.h"

int config_refuse(char *err, size_t errlen, const char *value, const char *why)
{
	snprintf(err, errlen, "'%.64s' %s", value, why);
	return -EINVAL;
}

void config_print_word(struct strbuf *out, const char *key, const char *value)
{
	if (*value)
		strbuf_printf(out, "%s = %s\n", key, value);
	else
		strbuf_printf(out, "# %s =\n", key);
}

/* [daemon] name */

static int parse_name(void *target, const char *instance, const char *value, char *err,
		      size_t errlen)
{
	struct config *c = target;

	(void)instance;
	if (!name_valid(value))
		return config_refuse(err, errlen, value,
				     "is no host name: at most 63 letters, digits and . _ - : %");
	name_copy(c->name, sizeof(c->name), value);
	return 0;
}

static void print_name(const void *target, const char *instance, struct strbuf *out)
{
	(void)instance;
	config_print_word(out, "name", ((const struct config *)target)->name);
}

/* [http] listen */

static bool listens_already(const struct config *c, const union address *a)
{
	char text[ADDRESS_ENDPOINT_TEXT], known[ADDRESS_ENDPOINT_TEXT];

	address_format_endpoint(a, text);
	for (size_t i = 0; i < c->n_listen; i++) {
		address_format_endpoint(&c->listen[i], known);
		if (!strcmp(text, known))
			return true;
	}
	return false;
}

static int parse_listen(void *target, const char *instance, const char *value, char *err,
			size_t errlen)
{
	struct config_loading *l = target;
	struct config *c = &l->config;
	union address a;

	(void)instance;
	if (address_parse_endpoint(value, &a, err, errlen) < 0)
		return -EINVAL;
	if (l->from_command_line && !l->listen_replaced) {
		c->n_listen = 0;
		l->listen_replaced = true;
	}
	if (listens_already(c, &a)) {
		snprintf(err, errlen, "%.64s is listed twice: merged", value);
		return 0;
	}
	if (c->n_listen == CONFIG_LISTEN_MAX) {
		snprintf(err, errlen, "more than %d addresses", CONFIG_LISTEN_MAX);
		return -EINVAL;
	}
	c->listen[c->n_listen++] = a;
	return 0;
}

static void print_listen(const void *target, const char *instance, struct strbuf *out)
{
	const struct config *c = target;
	char text[ADDRESS_ENDPOINT_TEXT];

	(void)instance;
	for (size_t i = 0; i < c->n_listen; i++) {
		address_format_endpoint(&c->listen[i], text);
		strbuf_printf(out, "%slisten = %s\n", c->listen_default ? "# " : "", text);
	}
}

/* [http] tls_cert and kin: the working directory of a service is not where its files are. */

static int check_absolute(const char *path, char *err, size_t errlen)
{
	if (!*path || *path == '/')
		return 0;
	return config_refuse(err, errlen, path, "must be an absolute path");
}

static int check_tls_cert(const void *target, char *err, size_t errlen)
{
	return check_absolute(((const struct config *)target)->tls_cert, err, errlen);
}

static int check_tls_key(const void *target, char *err, size_t errlen)
{
	return check_absolute(((const struct config *)target)->tls_key, err, errlen);
}

static int check_tls_client_ca(const void *target, char *err, size_t errlen)
{
	return check_absolute(((const struct config *)target)->tls_client_ca, err, errlen);
}

static int check_auth_file(const void *target, char *err, size_t errlen)
{
	return check_absolute(((const struct config *)target)->auth_file, err, errlen);
}

/* [metrics] per_peer */

static const char *const per_peer_names[] = {"summary", "histogram", "worst", "none"};

static int parse_per_peer(void *target, const char *instance, const char *value, char *err,
			  size_t errlen)
{
	struct config *c = target;

	(void)instance;
	for (unsigned i = 0; i < sizeof(per_peer_names) / sizeof(per_peer_names[0]); i++) {
		if (strcmp(value, per_peer_names[i]))
			continue;
		c->per_peer = (enum config_per_peer)i;
		return 0;
	}
	return config_refuse(err, errlen, value, "is none of summary, histogram, worst, none");
}

static void print_per_peer(const void *target, const char *instance, struct strbuf *out)
{
	(void)instance;
	config_print_word(out, "per_peer",
			  per_peer_names[((const struct config *)target)->per_peer]);
}

#define ATOMIC_SIZE 8
#define ONESIDED_SIZE_MIN 8
#define SEND_SIZE_MAX 16384 /* four receive buffers of every session hold it */

/* [counters] exclude, also_as */

/* A glob over device names that fnmatch() can take and a message can show. */
static bool glob_valid(const char *s)
{
	if (strlen(s) >= FACT_NAME)
		return false;
	for (; *s; s++) {
		if (*s <= 0x20 || *s >= 0x7f || *s == '/')
			return false;
	}
	return true;
}

static int add_glob(struct config *c, const char *glob, char *err, size_t errlen)
{
	size_t len = strlen(c->exclude);
	const char *blank = len ? " " : "";

	if (!glob_valid(glob))
		return config_refuse(err, errlen, glob, "is no pattern of a device name");
	if (len + strlen(blank) + strlen(glob) >= sizeof(c->exclude)) {
		snprintf(err, errlen, "more than %d bytes of patterns", EXCLUDE_MAX - 1);
		return -EINVAL;
	}
	snprintf(c->exclude + len, sizeof(c->exclude) - len, "%s%s", blank, glob);
	return 0;
}

static int parse_exclude(void *target, const char *instance, const char *value, char *err,
			 size_t errlen)
{
	struct config_loading *l = target;
	char words[CONF_MAX_LINE + 1], *save;

	(void)instance;
	if (l->from_command_line && !l->exclude_replaced) {
		l->config.exclude[0] = '\0';
		l->exclude_replaced = true;
	}
	name_copy(words, sizeof(words), value);
	for (char *w = strtok_r(words, " \t,", &save); w; w = strtok_r(NULL, " \t,", &save)) {
		if (add_glob(&l->config, w, err, errlen) < 0)
			return -EINVAL;
	}
	return 0;
}

/* Several lines, for a line has its limit. */
static void print_exclude(const void *target, const char *instance, struct strbuf *out)
{
	const struct config *c = target;
	char words[EXCLUDE_MAX], *save;

	(void)instance;
	if (!c->exclude[0])
		strbuf_puts(out, "# exclude =\n");
	name_copy(words, sizeof(words), c->exclude);
	for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
		strbuf_printf(out, "exclude = %s\n", w);
}

static int parse_also_as(void *target, const char *instance, const char *value, char *err,
			 size_t errlen)
{
	struct config *c = target;
	char words[CONF_MAX_LINE + 1], *save;
	bool node = false, rdma = false;

	(void)instance;
	name_copy(words, sizeof(words), value);
	for (char *w = strtok_r(words, " \t,", &save); w; w = strtok_r(NULL, " \t,", &save)) {
		if (!strcmp(w, "node_exporter"))
			node = true;
		else if (!strcmp(w, "rdma_exporter"))
			rdma = true;
		else
			return config_refuse(err, errlen, w,
					     "is neither node_exporter nor rdma_exporter");
	}
	c->also_node_exporter = node;
	c->also_rdma_exporter = rdma;
	return 0;
}

static void print_also_as(const void *target, const char *instance, struct strbuf *out)
{
	const struct config *c = target;

	(void)instance;
	if (!c->also_node_exporter && !c->also_rdma_exporter)
		strbuf_puts(out, "# also_as =\n");
	else
		strbuf_printf(out, "also_as = %s%s%s\n",
			      c->also_node_exporter ? "node_exporter" : "",
			      c->also_node_exporter && c->also_rdma_exporter ? ", " : "",
			      c->also_rdma_exporter ? "rdma_exporter" : "");
}

/* [peers] */

static int check_address_template(const void *target, char *err, size_t errlen)
{
	const struct config *c = target;

	return c->address_template[0] ? peer_template_check(c->address_template, err, errlen) : 0;
}

static int parse_accept(void *target, const char *instance, const char *value, char *err,
			size_t errlen)
{
	struct config *c = target;

	(void)instance;
	if (strcmp(value, "listed") && strcmp(value, "any"))
		return config_refuse(err, errlen, value, "is neither listed nor any");
	c->accept_any = !strcmp(value, "any");
	return 0;
}

static void print_accept(const void *target, const char *instance, struct strbuf *out)
{
	(void)instance;
	config_print_word(out, "accept",
			  ((const struct config *)target)->accept_any ? "any" : "listed");
}

/* The table */

#define FIELD(f) .offset = offsetof(struct config, f), .size = sizeof(((struct config *)0)->f)
#define HOUR (3600 * NSEC_PER_SEC)

#define PROBE_KEYS(name, op_, interval, size_, size_min, size_max, size_help)                      \
	{.section = "probe",                                                                       \
	 .key = name "_interval",                                                                  \
	 .type = CONF_INTERVAL,                                                                    \
	 .effect = CONF_REBUILDS_SESSIONS,                                                         \
	 FIELD(op[op_].interval_ns),                                                               \
	 .default_text = interval,                                                                 \
	 .min = NSEC_PER_MSEC,                                                                     \
	 .max = HOUR,                                                                              \
	 .help = "time between two " name " probes of a session; off stops them"},                 \
		{.section = "probe",                                                               \
		 .key = name "_size",                                                              \
		 .type = CONF_SIZE,                                                                \
		 .effect = CONF_REBUILDS_SESSIONS,                                                 \
		 FIELD(op[op_].size),                                                              \
		 .default_text = size_,                                                            \
		 .min = size_min,                                                                  \
		 .max = size_max,                                                                  \
		 .help = size_help},                                                               \
	{                                                                                          \
		.section = "probe", .key = name "_deadline", .type = CONF_DURATION,                \
		.effect = CONF_RELOAD, FIELD(op[op_].deadline_ns), .default_text = "500ms",        \
		.min = NSEC_PER_MSEC, .max = 60 * NSEC_PER_SEC,                                    \
		.help = "a probe without completion by then has failed"                            \
	}

#define RULE_SWITCH(rule, name)                                                                    \
	{                                                                                          \
		.section = "rules", .key = name, .type = CONF_BOOL, .effect = CONF_RELOAD,         \
		FIELD(rules.on[rule]), .default_text = "yes",                                      \
		.help = "off: the rule " name " is not asked"                                      \
	}
#define RULE_LEVEL(rule, name, level, text, max_, help_)                                           \
	{                                                                                          \
		.section = "rules", .key = name "_" #level, .type = CONF_LIMIT,                    \
		.effect = CONF_RELOAD, FIELD(rules.level[rule]), .default_text = text, .min = 1,   \
		.max = max_, .help = #level " from this on: " help_                                \
	}
/* A switch and the limits of its two levels. */
#define RULE_KEYS(rule, name, warning_, critical_, max_, help_)                                    \
	RULE_SWITCH(rule, name), RULE_LEVEL(rule, name, warning, warning_, max_, help_),           \
		RULE_LEVEL(rule, name, critical, critical_, max_, help_)
#define MILLIARD 1000000000

static const struct conf_key keys[] = {
	{.section = "daemon",
	 .key = "name",
	 .type = CONF_CUSTOM,
	 .effect = CONF_RESTART,
	 .parse = parse_name,
	 .print = print_name,
	 .help = "this host's name in the mesh; default: its name in the peer list, else its "
		 "host name"},
	{.section = "http",
	 .key = "listen",
	 .type = CONF_CUSTOM,
	 .effect = CONF_RESTART,
	 .repeatable = true,
	 .default_text = "[::]:10479",
	 .parse = parse_listen,
	 .print = print_listen,
	 .help = "ADDRESS:PORT to serve on; repeatable; the default takes both families, or "
		 "0.0.0.0 where IPv6 is off"},
	{.section = "http",
	 .key = "allow_reload",
	 .type = CONF_BOOL,
	 .effect = CONF_RELOAD,
	 FIELD(allow_reload),
	 .default_text = "no",
	 .help = "accept POST /-/reload"},
	{.section = "http",
	 .key = "tls_cert",
	 .type = CONF_STRING,
	 .effect = CONF_RELOAD,
	 FIELD(tls_cert),
	 .check = check_tls_cert,
	 .help = "certificate in PEM form, its chain after it; with it HTTP is served by TLS "
		 "alone"},
	{.section = "http",
	 .key = "tls_key",
	 .type = CONF_STRING,
	 .effect = CONF_RELOAD,
	 FIELD(tls_key),
	 .check = check_tls_key,
	 .help = "its private key in PEM form, readable by the service's user and not by others"},
	{.section = "http",
	 .key = "tls_client_ca",
	 .type = CONF_STRING,
	 .effect = CONF_RELOAD,
	 FIELD(tls_client_ca),
	 .check = check_tls_client_ca,
	 .help = "CA certificates in PEM form: clients need a certificate that one of them signed"},
	{.section = "http",
	 .key = "plain_loopback",
	 .type = CONF_BOOL,
	 .effect = CONF_RELOAD,
	 FIELD(plain_loopback),
	 .default_text = "no",
	 .help = "with TLS: clients on this host, at 127.0.0.1 and ::1, speak plain HTTP instead"},
	{.section = "http",
	 .key = "auth_file",
	 .type = CONF_STRING,
	 .effect = CONF_RELOAD,
	 FIELD(auth_file),
	 .check = check_auth_file,
	 .help = "USER:HASH lines: user and password are needed for all but /-/healthy and "
		 "/-/ready"},
	{.section = "metrics",
	 .key = "per_peer",
	 .type = CONF_CUSTOM,
	 .effect = CONF_RELOAD,
	 .default_text = "summary",
	 .parse = parse_per_peer,
	 .print = print_per_peer,
	 .help = "series of each session: summary, histogram (that and buckets), worst (summary of "
		 "the 8 "
		 "worst of a rail) or none"},
	{.section = "metrics",
	 .key = "max_series",
	 .type = CONF_U32,
	 .effect = CONF_RELOAD,
	 FIELD(max_series),
	 .default_text = "50000",
	 .min = 100,
	 .max = 10000000,
	 .help = "most series in one scrape; what is left out is counted"},
	{.section = "journal",
	 .key = "size",
	 .type = CONF_SIZE,
	 .effect = CONF_RESTART,
	 FIELD(journal_size),
	 .default_text = "10M",
	 .min = 64 * 1024,
	 .max = 1U << 30,
	 .help = "bytes of events that are kept on disk in the service's state directory; the "
		 "oldest quarter goes when it is full"},
	{.section = "rail",
	 .key = "device",
	 .instance = true,
	 .type = CONF_CUSTOM,
	 .effect = CONF_REBUILDS_SESSIONS,
	 .parse = config_parse_rail_device,
	 .print = config_print_rail_device,
	 .help = "RDMA device of the rail"},
	{.section = "rail",
	 .key = "netdev",
	 .instance = true,
	 .type = CONF_CUSTOM,
	 .effect = CONF_REBUILDS_SESSIONS,
	 .parse = config_parse_rail_netdev,
	 .print = config_print_rail_netdev,
	 .help = "network interface of the rail"},
	{.section = "rail",
	 .key = "subnet",
	 .instance = true,
	 .type = CONF_CUSTOM,
	 .effect = CONF_REBUILDS_SESSIONS,
	 .parse = config_parse_rail_subnet,
	 .print = config_print_rail_subnet,
	 .help = "subnet of the rail's address, as 10.99.0.0/24"},
	{.section = "rail",
	 .key = "expected_rate",
	 .instance = true,
	 .type = CONF_CUSTOM,
	 .effect = CONF_RELOAD,
	 .parse = config_parse_rail_rate,
	 .print = config_print_rail_rate,
	 .help = "link rate that the rail's port should have, as 200Gb/s; less is a finding"},
	{.section = "rails",
	 .key = "expected",
	 .type = CONF_U32,
	 .effect = CONF_RELOAD,
	 FIELD(rails_expected),
	 .default_text = "0",
	 .max = 1024,
	 .help = "rails that this host should have; 0: not stated"},
	{.section = "rails",
	 .key = "expected_rate",
	 .type = CONF_CUSTOM,
	 .effect = CONF_RELOAD,
	 .parse = config_parse_rails_rate,
	 .print = config_print_rails_rate,
	 .help = "the same for all rails that state none of their own, also without any [rail "
		 "NAME]"},
	{.section = "rails",
	 .key = "allow_rocev1",
	 .type = CONF_BOOL,
	 .effect = CONF_REBUILDS_SESSIONS,
	 FIELD(allow_rocev1),
	 .default_text = "no",
	 .help = "probe over GIDs of RoCE v1 too"},
	{.section = "class",
	 .key = "tos",
	 .instance = true,
	 .type = CONF_CUSTOM,
	 .effect = CONF_REBUILDS_SESSIONS,
	 .parse = config_parse_class_tos,
	 .print = config_print_class_tos,
	 .help = "traffic class byte (DSCP x 4) of the class's sessions"},
	{.section = "class",
	 .key = "sl",
	 .instance = true,
	 .type = CONF_CUSTOM,
	 .effect = CONF_REBUILDS_SESSIONS,
	 .parse = config_parse_class_sl,
	 .print = config_print_class_sl,
	 .help = "InfiniBand service level instead of tos (not built yet: the subnet manager's "
		 "is used, with a warning)"},
	PROBE_KEYS("send", OP_SEND, "1s", "64", WIRE_MIN_PROBE, SEND_SIZE_MAX,
		   "bytes of a send and of its echo"),
	PROBE_KEYS("read", OP_READ, "1s", "64", ONESIDED_SIZE_MIN, WIRE_PATTERN_LEN,
		   "bytes of a read"),
	PROBE_KEYS("write", OP_WRITE, "10s", "64", ONESIDED_SIZE_MIN, WIRE_SCRATCH_LEN,
		   "bytes of a write"),
	PROBE_KEYS("atomic", OP_ATOMIC, "off", "8", ATOMIC_SIZE, ATOMIC_SIZE,
		   "bytes of an atomic, always 8"),
	{.section = "probe",
	 .key = "loopback",
	 .type = CONF_BOOL,
	 .effect = CONF_RELOAD,
	 FIELD(loopback),
	 .default_text = "no",
	 .help = "a session of each rail to itself: host and NIC without the fabric"},
	{.section = "probe",
	 .key = "ack_timeout",
	 .type = CONF_U32,
	 .effect = CONF_REBUILDS_SESSIONS,
	 FIELD(ack_timeout),
	 .default_text = "17",
	 .min = 8,
	 .max = 22,
	 .help = "a QP repeats what was not acknowledged for 4.096 us x 2^ack_timeout"},
	{.section = "probe",
	 .key = "retry_count",
	 .type = CONF_U32,
	 .effect = CONF_REBUILDS_SESSIONS,
	 FIELD(retry_count),
	 .default_text = "6",
	 .min = 1,
	 .max = 6,
	 .help = "repetitions before a QP breaks (7 would be for ever on some devices)"},
	{.section = "probe",
	 .key = "keepalive",
	 .type = CONF_DURATION,
	 .effect = CONF_REBUILDS_SESSIONS,
	 FIELD(keepalive_ns),
	 .default_text = "10s",
	 .min = 100 * NSEC_PER_MSEC,
	 .max = HOUR,
	 .help = "a session sends something at least so often; its peer frees what it holds for it "
		 "after three times that in silence"},
	{.section = "limits",
	 .key = "qps_per_device",
	 .type = CONF_U32,
	 .effect = CONF_RESTART,
	 FIELD(qps_per_device),
	 .default_text = "1024",
	 .min = 2,
	 .max = 65536,
	 .help = "most QPs on a device, passive ones counted; at most half for own sessions"},
	{.section = "limits",
	 .key = "connects",
	 .type = CONF_U32,
	 .effect = CONF_RELOAD,
	 FIELD(connects),
	 .default_text = "64",
	 .min = 1,
	 .max = 1024,
	 .help = "connects in flight on a device; at most half of them to peers that did not "
		 "answer "
		 "the last time"},
	{.section = "limits",
	 .key = "probes_per_second",
	 .type = CONF_U32,
	 .effect = CONF_RELOAD,
	 FIELD(probes_per_second),
	 .default_text = "2000",
	 .min = 1,
	 .max = 1000000,
	 .help = "probes of a device in a second; where more are due, all get the same part "
		 "of them by turns, and the rest is not attempted (budget)"},
	{.section = "counters",
	 .key = "interval",
	 .type = CONF_DURATION,
	 .effect = CONF_RELOAD,
	 FIELD(counters_interval_ns),
	 .default_text = "5s",
	 .min = 100 * NSEC_PER_MSEC,
	 .max = HOUR,
	 .help = "time between two readings of all counters"},
	{.section = "counters",
	 .key = "netdev_stats",
	 .type = CONF_U32,
	 .effect = CONF_RELOAD,
	 FIELD(netdev_stats),
	 .default_text = "400",
	 .max = 512,
	 .help = "most statistics of a port's netdev (ethtool -S) that are read and told, those "
		 "of COUNTERS.md first and those of single queues last; 0: none are asked for"},
	{.section = "counters",
	 .key = "kernel_log",
	 .type = CONF_BOOL,
	 .effect = CONF_RESTART,
	 FIELD(kernel_log),
	 .default_text = "no",
	 .help = "follow the kernel log (/dev/kmsg) for sentences of drivers whose NIC takes no "
		 "commands any more; the service may not without a drop-in (OPERATIONS.md)"},
	{.section = "counters",
	 .key = "exclude",
	 .type = CONF_CUSTOM,
	 .effect = CONF_RELOAD,
	 .repeatable = true,
	 .parse = parse_exclude,
	 .print = print_exclude,
	 .help = "patterns of devices that are never opened, as mlx5_bond*; repeatable"},
	{.section = "counters",
	 .key = "also_as",
	 .type = CONF_CUSTOM,
	 .effect = CONF_RELOAD,
	 .parse = parse_also_as,
	 .print = print_also_as,
	 .help = "also tell counters under the names of these exporters, as node_exporter, "
		 "rdma_exporter; see COMPATIBILITY.md"},
	RULE_SWITCH(RULE_LINK_DOWN, "link_down"),
	RULE_KEYS(RULE_LINK_FLAP, "link_flap", "2", "5", 100,
		  "times that the link went down in 5 minutes"),
	RULE_KEYS(RULE_LINK_ERRORS, "link_errors", "10", "1000", MILLIARD,
		  "symbol, checksum and uncorrected errors of the link in 5 minutes"),
	RULE_SWITCH(RULE_LINK_DEGRADED, "link_degraded"),
	RULE_KEYS(RULE_CONGESTION, "congestion", "10000", "off", MILLIARD,
		  "congestion marks or notifications a second, over a minute"),
	RULE_KEYS(RULE_CC_BROKEN, "cc_broken", "100", "off", MILLIARD,
		  "marks without any answer, or notifications ignored, in a minute"),
	RULE_KEYS(RULE_LOSS, "loss", "60", "6000", MILLIARD,
		  "losses and retransmissions in a minute, those of our failed probes left out"),
	RULE_KEYS(RULE_RECEIVER_NOT_READY, "receiver_not_ready", "600", "off", MILLIARD,
		  "requests without a receive posted for them, in a minute"),
	RULE_KEYS(RULE_PAUSE_RECEIVED, "pause_received", "5", "30", 100,
		  "percent of a minute in which the network paused the port"),
	RULE_KEYS(RULE_PAUSE_SENT, "pause_sent", "5", "30", 100,
		  "percent of a minute in which the port paused the network"),
	RULE_SWITCH(RULE_PFC_STORM, "pfc_storm"),
	RULE_LEVEL(RULE_PFC_STORM, "pfc_storm", warning, "1", 1000000,
		   "storms that the NIC itself told in 5 minutes"),
	RULE_LEVEL(RULE_PFC_STORM, "pfc_storm", critical, "99", 100,
		   "percent of 10 seconds that were paused while nothing moved"),
	RULE_KEYS(RULE_PCIE_BOTTLENECK, "pcie_bottleneck", "10", "off", 100,
		  "percent of the seconds of a minute in which PCIe stalled the NIC"),
	RULE_SWITCH(RULE_COUNTERS_SATURATED, "counters_saturated"),
	RULE_SWITCH(RULE_COUNTERS_UNREADABLE, "counters_unreadable"),
	RULE_SWITCH(RULE_FIRMWARE_STUCK, "firmware_stuck"),
	{.section = "rules",
	 .key = "recovery",
	 .type = CONF_DURATION,
	 .effect = CONF_RELOAD,
	 FIELD(rules.recovery_ns),
	 .default_text = "10m",
	 .min = NSEC_PER_SEC,
	 .max = 24 * HOUR,
	 .help = "a link that was down or flapped is told until it was well for this long"},
	{.section = "rules",
	 .key = "hold",
	 .type = CONF_DURATION,
	 .effect = CONF_RELOAD,
	 FIELD(rules.hold_ns),
	 .default_text = "1m",
	 .min = NSEC_PER_SEC,
	 .max = 24 * HOUR,
	 .help = "other trouble by counters is told for this long after its limit was last "
		 "reached"},
	{.section = "verdict",
	 .key = "failing_after",
	 .type = CONF_U32,
	 .effect = CONF_RELOAD,
	 FIELD(verdict.failing_after),
	 .default_text = "2",
	 .min = 1,
	 .max = 100,
	 .help = "misses in a row of one operation of a session that make it failing; fewer make "
		 "it degraded"},
	{.section = "verdict",
	 .key = "ok_after",
	 .type = CONF_U32,
	 .effect = CONF_RELOAD,
	 FIELD(verdict.ok_after),
	 .default_text = "3",
	 .min = 1,
	 .max = 100,
	 .help = "successes in a row of every operation that make a session ok again"},
	{.section = "peers",
	 .key = "peer",
	 .type = CONF_CUSTOM,
	 .effect = CONF_RELOAD,
	 .repeatable = true,
	 .parse = config_parse_peer,
	 .print = config_print_peers,
	 .help = "HOST[/RAIL] [ADDRESS]: one endpoint to probe; repeatable"},
	{.section = "peers",
	 .key = "file",
	 .type = CONF_STRING,
	 .effect = CONF_RELOAD,
	 FIELD(peers_file),
	 .help = "JSON list of peers in Prometheus' file_sd form, read again when it changes"},
	{.section = "peers",
	 .key = "address",
	 .type = CONF_STRING,
	 .effect = CONF_RELOAD,
	 FIELD(address_template),
	 .check = check_address_template,
	 .help = "host name to look up for a peer without address, as {host}-{rail}.example; "
		 "default: the host"},
	{.section = "peers",
	 .key = "resolve_interval",
	 .type = CONF_DURATION,
	 .effect = CONF_RELOAD,
	 FIELD(resolve_interval_ns),
	 .default_text = "1m",
	 .min = NSEC_PER_SEC,
	 .max = HOUR,
	 .help = "time between two look-ups of a host name whose address is known"},
	{.section = "peers",
	 .key = "secret_file",
	 .type = CONF_STRING,
	 .effect = CONF_RELOAD,
	 FIELD(secret_file),
	 .help = "a file with a secret that all hosts share, for root and the service alone; a "
		 "host that does not prove it is refused; read again at a reload, another one is "
		 "for new connections"},
	{.section = "peers",
	 .key = "accept",
	 .type = CONF_CUSTOM,
	 .effect = CONF_RELOAD,
	 .default_text = "listed",
	 .parse = parse_accept,
	 .print = print_accept,
	 .help = "who may connect: listed (by source address) or any"},
	{.section = "peers",
	 .key = "allow_shrink",
	 .type = CONF_BOOL,
	 .effect = CONF_RELOAD,
	 FIELD(allow_shrink),
	 .default_text = "no",
	 .help = "accept a peer file that became empty or lost more than half of 8 or more "
		 "targets"},
};

const struct conf_key *config_keys(size_t *ret_n)
{
	*ret_n = sizeof(keys) / sizeof(keys[0]);
	return keys;
}
