/* What the sessions of a host, compared with each other, say about where a fault is. */
#pragma once
#include "health/judge.h"

/* How a session's peer is heard. */
enum voice {
	VOICE_UNMEASURED, /* nothing can be said: no outcome yet, or our own side is not able */
	VOICE_FINE,	  /* nothing is missing now, or only what has its turn yet to come */
	VOICE_PARTLY,	  /* something is missing, something answers: the peer is reached */
	VOICE_SILENT,	  /* nothing answers */
};

#define NOT_FOUND SIZE_MAX
#define ERROR_FRESH_NS                                                                             \
	60000000000ULL /* attempts are at most 10 s apart: older ones are history                  \
			*/

#define ANSWER_TIME_NS 500000000ULL /* a round trip is shorter; the usual deadline */

/* What a peer said, as the worker's control thread puts it into a session's error. */
#define SAID_NOT_LISTED "peer does not list this address"
#define SAID_LEAVING "peer is stopping"
#define SAID_NO_RESOURCES "peer has no resources left"
#define SAID_GOODBYE "peer said goodbye"
#define PEERS_TO_JUDGE 3 /* fewer peers than this prove nothing about what they share */

/* Peers, not sessions: how many are reached and how many are silent. */
struct tally {
	unsigned reached, silent;
};

struct evidence {
	const struct snapshot *s;
	const struct judge_session *in;
	const struct judge_device *devices;
	uint32_t ok_after; /* successes in a row that end a trouble */
	enum voice *voice; /* per session */
	size_t *rail;	   /* per session: index of its rail in the snapshot, or NOT_FOUND */
	size_t *device;
	size_t *peer_first, *peer_end; /* per session: the sessions of its peer */
	struct tally *rails;	       /* per rail: its peers */
	uint64_t *rail_since; /* per rail: wall clock since when a peer is silent; 0: none */
};

/* Memory belongs to the snapshot. False: no memory. */
bool evidence_gather(struct evidence *e, struct snapshot *s, const struct judge_input *in);

/* What its worker counted is not believed: its figures are old. */
bool evidence_doubted(const struct evidence *e, size_t i);
/* The session's own side can measure: rail up, worker up and believed, not disabled. */
bool evidence_side_ok(const struct evidence *e, size_t i);
/* The session is not up, and its last error says that the peer is there and does not want us. */
bool evidence_refused(const struct evidence *e, size_t i);
/* Its host name has no address: nobody was asked anything. */
bool evidence_nowhere(const struct evidence *e, size_t i);
/* The same as evidence_refused, and we are the ones who cannot. */
bool evidence_unable(const struct evidence *e, size_t i);
/* Why the rail is not up, when that is a trouble of its whole device; NULL: it is not. */
const char *evidence_trouble(const struct evidence *e, size_t rail);
bool evidence_missing(const struct judge_memory *m, enum op op);
/* When the first operation that misses now began to, for words: wall clock; 0: none misses. */
uint64_t evidence_missing_since(const struct judge_memory *m);
/* The operation succeeded after those that miss were cut off (before, it proves nothing). */
bool evidence_answers(const struct evidence *e, size_t i, enum op op);
/* The peer's NIC acknowledges SENDs whose echo is missing. */
bool evidence_acked(const struct evidence *e, size_t i);
/* Every peer on the rail is silent, and they are enough to tell. */
bool evidence_rail_dead(const struct evidence *e, size_t rail);
/* Local rails on which the session's peer is reached, and silent. */
struct tally evidence_peer_rails(const struct evidence *e, size_t i);
/* A session to the peer that is reached over another rail than this one's; NOT_FOUND: none.
 * same_endpoint: to the very same address. */
size_t evidence_other_way(const struct evidence *e, size_t i, bool same_endpoint);
/* A session to the peer that is reached over this very rail, in another class or to another of its
 * addresses; NOT_FOUND: none. */
size_t evidence_same_rail(const struct evidence *e, size_t i);
/* Peers with the same rack (or pod) label, and all others. */
void evidence_place(const struct evidence *e, size_t i, bool pod, struct tally *ret_same,
		    struct tally *ret_others);
