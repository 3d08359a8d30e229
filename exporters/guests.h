/* Who is connected and what each is doing, to bound what clients can hold: connections in all and
 * per address, and the time of each phase. Pure book-keeping; closing is the server's. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define GUESTS_MAX 256			  /* connections in all */
#define GUESTS_PER_ADDRESS 128		  /* of one client address */
#define GUESTS_SLACK 64			  /* being closed while others come */
#define GUEST_WAIT_MAX_NS 10000000000ULL  /* idle, or until a header is complete */
#define GUEST_READ_MAX_NS 10000000000ULL  /* until a body is complete */
#define GUEST_WRITE_MAX_NS 60000000000ULL /* until an answer is delivered */

enum guest_phase {
	GUEST_WAITING, /* for a request: idle or in the middle of a header */
	GUEST_READING, /* the body of a request */
	GUEST_WRITING, /* an answer is on its way */
};

struct guest {
	struct guest *prev, *next;
	int fd;		     /* the connection's, not owned */
	uint8_t address[16]; /* IPv4 as v4-mapped */
	enum guest_phase phase;
	uint64_t since_ns; /* of the phase */
	const void *holds; /* what the answer on its way keeps in memory; NULL: nothing */
	bool leaving;	   /* shut down already; not counted */
};

struct guests {
	struct guest slot[GUESTS_MAX + GUESTS_SLACK];
	struct guest *present, *free;
};

void guests_init(struct guests *all);
/* NULL when every slot is taken. */
struct guest *guests_enter(struct guests *all, int fd, const struct sockaddr *addr,
			   uint64_t now_ns);
void guests_leave(struct guests *all, struct guest *g);
bool guests_any(const struct guests *all);
void guest_enter_phase(struct guest *g, enum guest_phase phase, uint64_t now_ns);

/* Before one more from addr is let in: who has to go? NULL: there is room. The one who has waited
 * longest without a request, else the one whose request takes longest. */
struct guest *guests_in_the_way(struct guests *all, const struct sockaddr *addr);
/* The longest waiting one, or else the slowest, of all; NULL: nobody. */
struct guest *guests_longest(struct guests *all);
/* Someone whose phase lasts too long; NULL: nobody. */
struct guest *guests_overdue(struct guests *all, uint64_t now_ns);
/* Someone whose answer holds that; NULL: nobody. */
struct guest *guests_holding(struct guests *all, const void *held);
