/* The sessions of this host as main keeps them: what the plan wants, in which row of which worker's
 * table each one is, and its books over the lives of workers. */
#pragma once
#include "daemon/device.h"
#include "daemon/plan.h"
#include "daemon/rails.h"
#include "health/books.h"
#include "health/judge.h"
#include "health/window.h"

struct sessions;

enum session_phase {
	PHASE_UNPLACED, /* no worker has it */
	PHASE_PLACED,
	PHASE_LEAVING, /* its worker was told to let it go; the row is not final yet */
};

struct session {
	/* what it is */
	uint64_t id; /* never 0, never used again; new when it is rebuilt */
	struct session_key key;
	struct target target;
	char device[FACT_NAME];
	uint32_t class_index;
	/* what the plan says */
	bool wanted, disabled;
	char disabled_reason[FACT_NAME];
	bool released;		/* its device was, at the last look */
	uint64_t since_wall_ns; /* of unplaced, disabled */
	/* where it is */
	enum session_phase phase;
	uint32_t row;
	bool conn_seen;		  /* the row has shown this session's connection */
	struct session_conn conn; /* last one shown, valid while conn_seen */
	bool row_freed;		  /* after that the worker marked the row as free */
	/* what it measured */
	struct books books;
	struct row_look row_look; /* of its row, as last read */
	bool doubt_told;	  /* that it was not believed */
	struct window window;
	struct op_books total[OP_COUNT];  /* as exported at the last look */
	struct op_books looked[OP_COUNT]; /* at the look before, for the verdict */
	bool was_looked;
	enum verdict books_verdict;
	struct judge_memory judged;
	struct hist *hist;	    /* of each operation, owned; NULL: not wanted */
	uint64_t hist_id;	    /* whose samples hist_at counts */
	uint64_t hist_at[OP_COUNT]; /* as table_take_samples() */
	struct snap_quantiles quantiles[STREAM_COUNT]; /* of the last minute */
	uint64_t quantiles_ns;			       /* when they were taken */
	struct session_conn last_up; /* the last connection that was up, for the log */
	uint8_t lack_told[OP_COUNT]; /* enum op_lack, as last told */
	struct session_error error;  /* the last one, also of workers that ended */
	char answers_as[FACT_NAME];  /* the name of who answers, when the list has another; else ""
				      */
};

struct sessions *sessions_new(void); /* NULL: no memory */
void sessions_free(struct sessions *s);

/* Sorted by key. Sessions that left the plan are there until their row is final. */
size_t sessions_count(const struct sessions *s);
struct session *sessions_get(const struct sessions *s, size_t i);
/* The session in a row of the device's worker with that id; NULL: none, or another. */
struct session *sessions_in_row(const struct sessions *s, const char *device, uint32_t row,
				uint64_t id);
struct session *sessions_find(const struct sessions *s, const struct session_key *key);

/* Who has to be told. */
struct sessions_context {
	const struct supervisor *supervisor;
	const struct rails *rails;
	const struct config *config;
	bool settled; /* all devices have told their rails: what is not there now is absent */
	uint64_t now_ns, wall_ns;
};

/* Follow a plan: new sessions appear, those it lacks leave, unchanged ones are not touched; one
 * with another address or device is rebuilt. 0 or -ENOMEM. */
int sessions_follow(struct sessions *s, const struct plan *plan,
		    const struct sessions_context *ctx);
/* Other probe settings: all of them let go and come again, books go on. */
void sessions_rebuild(struct sessions *s, const struct sessions_context *ctx);
/* Give the sessions of a device rows in its worker, where their rail is known. */
void sessions_place(struct sessions *s, struct device *d, const struct sessions_context *ctx);
/* Read the rows of a device's table: connections and books. rail_beat_ns as books_derive_stuck. */
void sessions_read(struct sessions *s, const struct device *d, uint64_t rail_beat_ns);
/* Book what no worker books, and sum up: for all sessions, after their devices were read. */
void sessions_settle(struct sessions *s, const struct sessions_context *ctx);
/* The worker says that a row is final. */
void sessions_removed(struct sessions *s, struct device *d, uint32_t row, uint64_t id,
		      const struct sessions_context *ctx);
/* The same for rows that the table shows as freed. */
void sessions_sweep(struct sessions *s, struct device *d, const struct sessions_context *ctx);
/* The worker ended; its table can be read for the last time. */
void sessions_worker_ended(struct sessions *s, const struct device *d,
			   const struct sessions_context *ctx);

/* Its connection as the worker shows it; that of another session is ignored. */
void session_take_conn(struct session *s, const struct session_conn *conn);
/* As shown to people. */
enum session_state session_shown_state(const struct session *s, uint64_t *ret_since_wall_ns);
