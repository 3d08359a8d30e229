/* The judge: from the facts of one instant to verdict, cause and reason of every session, device
 * and the host, and the findings. The daemon fills a snapshot with facts, the judge fills in:
 *   sessions[]: verdict, verdict_since_wall_ns, cause, reason
 *   devices[]:  verdict, cause, reason
 *   findings, n_findings, and verdict, cause and reason of the host.
 * Needs rails and devices sorted by name, sessions sorted by peer then rail, mono_ns and wall_ns
 * set. */
#pragma once
#include "health/snapshot.h"
#include "health/window.h"

struct judge; /* remembers since when a finding stands */

/* What the judge remembers of one session. Kept by the session's owner, zeroed at first. */
struct judge_memory {
	bool judged;
	enum verdict verdict; /* as last judged; valid when judged */
	uint64_t since_wall_ns;
	enum verdict previous; /* the one before */
	bool changed;	       /* by the last run: time for the log line */
	enum cause cause;      /* of the trouble that it has, or is recovering from */
	char reason[FACT_TEXT];
	/* First seen missing, by both clocks; 0: answers. The wall clock's is for words alone. */
	uint64_t missing_since_ns[OP_COUNT], missing_since_wall_ns[OP_COUNT];
	/* When SEND began to miss, or a late echo came meanwhile: acks, and its last success. */
	uint64_t ack_count_then, send_success_then_ns;
};

struct judge_session {
	enum verdict books_verdict; /* of verdict_next() over the exported books */
	const char *rack, *pod;	    /* of the peer list; NULL or "" when it has none */
	const char *conn_reason;    /* why disabled or in back-off; NULL or "" when not */
	const char *answers_as; /* who answers, when it is not who the list says; else NULL, "" */
	const char *doubt; /* why its worker's books of it are not believed; NULL or "": they are */
	struct window_sums recent; /* of window_since() */
	struct judge_memory *memory;
};

struct judge_device {
	const char *trouble; /* why it cannot be probed, in words; NULL or "" when it can */
};

/* A peer of the list that we turned away. */
struct judge_refusal {
	const char *peer, *text;
};

/* Two rails of this host whose addresses are in one subnet, where ARP answers for both. */
struct judge_subnet {
	const char *rail, *other;
	const char *text;
};

struct judge_input {
	const struct judge_session *sessions; /* parallel to snapshot.sessions */
	const struct judge_device *devices;   /* parallel to snapshot.devices */
	const char *const *duplicates;	      /* host names with two live instances */
	size_t n_duplicates;
	const struct judge_refusal *refusals;
	size_t n_refusals;
	const struct judge_subnet *subnets;
	size_t n_subnets;
	uint32_t ok_after; /* of verdict_limits, for words */
};

struct judge *judge_new(void); /* NULL: no memory */
void judge_free(struct judge *j);
/* Out of memory leaves verdicts unknown and findings out. */
void judge_run(struct judge *j, const struct judge_input *in, struct snapshot *s);
