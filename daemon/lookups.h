/* The host names that the peer list needs addresses for, and what is known of each. Pure: time and
 * chance are arguments. A name is asked for again and again; while that fails the addresses of
 * before stay. */
#pragma once
#include "daemon/resolver_wire.h"

#define LOOKUP_PENDING_NS 5000000000ULL /* a new name may take this long before it is missed */
#define LOOKUP_RETRY_MIN_NS 1000000000ULL
#define LOOKUP_RETRY_MAX_NS 30000000000ULL /* a name that fails, doubling from the former */

struct lookup {
	char *name;
	uint32_t n;				     /* addresses; 0: none was ever known */
	union address addresses[RESOLVER_ADDRESSES]; /* those known for longest first */
	char error[RESOLVER_ERROR_TEXT]; /* why the last question failed; "" when it did not */
	bool asked;			 /* a question is out */
	bool answered;			 /* well or not, once at least */
	uint64_t since_ns;		 /* in the list */
	uint64_t due_ns;		 /* when to ask next */
	uint32_t failures;		 /* in a row */
};

struct lookups;

struct lookups *lookups_new(void); /* NULL: no memory */
void lookups_free(struct lookups *l);
/* Follow the names of a list: others are forgotten, known ones keep what is known. 0 or -ENOMEM. */
int lookups_follow(struct lookups *l, const struct peer_list *list, uint64_t now_ns);
size_t lookups_count(const struct lookups *l);
size_t lookups_failing(const struct lookups *l); /* whose last question failed */
const struct lookup *lookups_find(const struct lookups *l, const char *name); /* NULL: none */
/* A name that is due and not asked for, which is asked for from now on; NULL: none. */
const char *lookups_next(struct lookups *l, uint64_t now_ns);
enum lookup_change {
	LOOKUP_SAME,
	LOOKUP_CHANGED,	  /* other addresses */
	LOOKUP_FAILED,	  /* it fails, and did not before */
	LOOKUP_RECOVERED, /* it does not fail any more, with the addresses of before */
};
/* interval_ns: between two questions about a name that is known; random: any 64 random bits. */
enum lookup_change lookups_answer(struct lookups *l, const char *name,
				  const struct resolver_answer *a, uint64_t interval_ns,
				  uint64_t now_ns, uint64_t random);
/* New, and its first question may still be answered. */
bool lookup_pending(const struct lookup *l, uint64_t now_ns);
/* Which address to use: the first of the family, else the first. family AF_UNSPEC: any. False: none
 * is known. An address stays the first as long as the name has it. */
bool lookup_pick(const struct lookup *l, int family, union address *ret);
