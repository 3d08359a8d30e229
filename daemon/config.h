/* The configuration of the daemon as one plain value; only the peer list is on the heap. Loaded
 * whole or not at all: a reload parses a second struct config and compares. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/conf.h"
#include "core/strbuf.h"
#include "daemon/address.h"
#include "daemon/peer_list.h"
#include "health/rule.h"
#include "probes/facts.h"
#include "probes/wish.h"

#define CONFIG_DEFAULT_PATH "/etc/rdma-pingmesh/rdma-pingmesh.conf"
#define CONFIG_HTTP_PORT 10479
#define CONFIG_LISTEN_MAX 16
#define CONFIG_PATH_MAX 256

enum config_per_peer {
	CONFIG_PER_PEER_SUMMARY,
	CONFIG_PER_PEER_HISTOGRAM,
	CONFIG_PER_PEER_WORST,
	CONFIG_PER_PEER_NONE,
};

struct config {
	char name[FACT_NAME]; /* "" when not set */
	union address listen[CONFIG_LISTEN_MAX];
	size_t n_listen;     /* at least 1 */
	bool listen_default; /* listen is [::]:10479 by default: 0.0.0.0 is tried where it fails */
	bool allow_reload;
	/* Paths, "" when not set. */
	char tls_cert[CONFIG_PATH_MAX], tls_key[CONFIG_PATH_MAX], tls_client_ca[CONFIG_PATH_MAX];
	char auth_file[CONFIG_PATH_MAX];
	bool plain_loopback;
	enum config_per_peer per_peer;
	uint32_t max_series;
	uint32_t journal_size; /* bytes on disk */
	struct rail_spec rails[RAIL_MAX];
	uint64_t rail_rates[RAIL_MAX]; /* expected, bytes per second, of each rail; 0: not stated */
	uint64_t rails_rate;	       /* of those for which none is */
	size_t n_rails;		       /* 0: every active port with a usable address */
	uint32_t rails_expected;       /* 0: not stated */
	bool allow_rocev1;
	struct class_config classes[CLASS_MAX];
	size_t n_classes;     /* at least 1 */
	bool classes_default; /* none was configured: classes[0] is `default` */
	struct op_config op[OP_COUNT];
	bool loopback;
	uint32_t ack_timeout, retry_count;
	uint64_t keepalive_ns;
	uint32_t qps_per_device, connects, probes_per_second;
	uint64_t counters_interval_ns;
	uint32_t netdev_stats;	   /* of a port at most; 0: none */
	bool kernel_log;	   /* is followed for NICs that take no commands */
	char exclude[EXCLUDE_MAX]; /* device globs, one blank between them; never opened */
	bool also_node_exporter, also_rdma_exporter; /* names of theirs that are told besides */
	struct rule_limits rules;
	struct verdict_limits verdict;
	struct peer_list peers;		   /* of the `peer` lines, this host's own ones included */
	char secret_file[CONFIG_PATH_MAX]; /* absolute; "": none */
	bool has_secret;
	uint8_t secret[MAC_KEY_LEN];	  /* made from its content; never printed */
	char peers_file[CONFIG_PATH_MAX]; /* absolute; "": none */
	char address_template[CONFIG_PATH_MAX];
	uint64_t resolve_interval_ns;
	bool accept_any;
	bool allow_shrink;
};

/* Defaults, then path, then conf.d/NAME.conf beside it in the order of names, then sets[] of the
 * form section.key=value. A repeatable key in sets[] replaces what the files listed. Remarks go to
 * report, which the caller has set up; 0 on success, also with warnings, and then c is to be
 * freed. -EINVAL, or what kept path from being read: c is untouched. */
int config_load(struct config *c, const char *path, const char *const *sets, size_t n_sets,
		struct conf_report *report);
void config_free(struct config *c); /* NULL and zeroed are fine */
/* The effective configuration as a loadable file, no secrets. */
void config_print(const struct config *c, struct strbuf *out);
/* Of the printed text: two hosts with one file have one hash. 0 when memory is short. */
uint64_t config_hash(const struct config *c);
/* All keys in the order of docs and print. */
const struct conf_key *config_keys(size_t *ret_n);

/* What has to happen when a replaces b; bits. */
#define CONFIG_RELOADS 1u  /* something changed that takes effect at once, peers included */
#define CONFIG_REBUILDS 2u /* sessions must be rebuilt */
#define CONFIG_RESTARTS 4u /* some keys take effect at the next start only */
/* Appends the names of the latter, "limits.qps_per_device, ...", to restart_keys (may be NULL). */
unsigned config_changes(const struct config *old, const struct config *new,
			struct strbuf *restart_keys);

/* Shortest interval of the operations that are on; a second when none is. */
uint64_t config_shortest_interval_ns(const struct config *c);
/* The rate in bytes per second that the rail of that name should have; 0: not stated. */
uint64_t config_rail_rate(const struct config *c, const char *name);
/* The [rail NAME] of that name; NULL: none. */
const struct rail_spec *config_rail(const struct config *c, const char *name);
bool config_device_excluded(const struct config *c, const char *device);
