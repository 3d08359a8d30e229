/* The daemon: everything hangs from here. One thread, one loop. */
#pragma once
#include "daemon/config.h"
#include "daemon/notify.h"
#include "daemon/options.h"
#include "daemon/peer_source.h"
#include "daemon/peers.h"
#include "daemon/rails.h"
#include "daemon/subnets.h"
#include "daemon/refusals.h"
#include "daemon/scan.h"
#include "daemon/sessions.h"
#include "daemon/supervisor.h"
#include "daemon/worker_program.h"
#include "health/journal.h"

#define TICK_NS 1000000000ULL
#define PAUSE_NS 1000000000ULL /* a tick this late means that main, or the host, stood still */

struct commander;
struct http_server;
struct journal_keeper;
struct looker;
struct namer;
struct file_reader;
struct protection;
struct stopper;

struct daemon {
	const struct options *options;
	struct worker_program worker;
	struct config config; /* in force */
	uint64_t config_hash;
	uint64_t unknown_keys;
	bool last_reload_ok;
	uint64_t last_reload_success_wall_ns;

	uint64_t instance; /* random, new at each start */
	uint64_t start_ns, start_wall_ns;
	char host[FACT_NAME]; /* this host's mesh name */

	struct loop *loop;
	struct loop_source *tick, *hangup, *terminate, *interrupt;
	uint64_t tick_at_ns; /* intended */
	uint64_t lag_ns;     /* worst of the last second */
	struct notify *notify;
	struct journal_keeper *journal_keeper;
	struct journal *journal; /* the keeper's */
	struct refusals refusals;
	struct peers *peers;
	struct peer_source peer_source; /* of the list in force */
	struct file_reader *file_reader;
	struct namer *namer;   /* addresses of host names */
	bool reload_for_peers; /* the last reload was refused for the peer file alone */
	bool peer_file_ok;     /* false: its last version was refused, or it cannot be read */
	struct rails *rails;
	struct sessions *sessions;
	struct supervisor *supervisor;
	struct scan *scan;
	struct looker *looker; /* makes snapshots */
	struct http_server *http;
	struct protection *protection; /* of http */
	struct commander *commander;   /* NULL: no control socket */
	struct kernel_log *kernel_log; /* NULL: it is not followed */
	struct stopper *stopper;       /* NULL: not stopping */
	bool scanned, serving;
	bool no_device_told; /* the one line that says why nothing is probed */
	bool rails_complete; /* every device has told its rails, or will not soon */
	bool rails_known;    /* that was so at least once */
	size_t unmatched;    /* targets that no rail reaches, as last told */
	size_t beyond;	     /* devices past the limit, as last told */
	struct subnet_pairs subnets;
};

/* Run until a signal ends it; the exit status of the program. worker_path: NULL, or of the stand-in
 * that a test puts in the worker's place. */
int daemon_run(const struct options *options, const char *worker_path);

struct sessions_context daemon_sessions_context(const struct daemon *d);
