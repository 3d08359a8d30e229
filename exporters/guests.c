#include "exporters/guests.h"

#include <netinet/in.h>
#include <string.h>

#define SLOTS (sizeof(((struct guests *)0)->slot) / sizeof(struct guest))

void guests_init(struct guests *all)
{
	*all = (struct guests){0};
	for (size_t i = 0; i < SLOTS; i++) {
		all->slot[i].next = all->free;
		all->free = &all->slot[i];
	}
}

static void copy_address(uint8_t ret[16], const struct sockaddr *addr)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	memset(ret, 0, 16);
	if (addr->sa_family == AF_INET6) {
		memcpy(ret, &((const struct sockaddr_in6 *)addr)->sin6_addr, 16);
	} else if (addr->sa_family == AF_INET) {
		memcpy(ret, mapped, sizeof(mapped));
		memcpy(ret + 12, &((const struct sockaddr_in *)addr)->sin_addr, 4);
	}
}

struct guest *guests_enter(struct guests *all, int fd, const struct sockaddr *addr, uint64_t now_ns)
{
	struct guest *g = all->free;

	if (!g)
		return NULL;
	all->free = g->next;
	*g = (struct guest){.fd = fd, .since_ns = now_ns, .next = all->present};
	copy_address(g->address, addr);
	if (g->next)
		g->next->prev = g;
	all->present = g;
	return g;
}

void guests_leave(struct guests *all, struct guest *g)
{
	if (g->prev)
		g->prev->next = g->next;
	else
		all->present = g->next;
	if (g->next)
		g->next->prev = g->prev;
	g->next = all->free;
	all->free = g;
}

bool guests_any(const struct guests *all)
{
	return all->present != NULL;
}

void guest_enter_phase(struct guest *g, enum guest_phase phase, uint64_t now_ns)
{
	g->phase = phase;
	g->since_ns = now_ns;
	if (phase != GUEST_WRITING)
		g->holds = NULL;
}

/* Waiting comes before working, then the longer one. */
static bool goes_first(const struct guest *a, const struct guest *b)
{
	bool a_waits = a->phase == GUEST_WAITING, b_waits = b->phase == GUEST_WAITING;

	if (a_waits != b_waits)
		return a_waits;
	return a->since_ns < b->since_ns;
}

/* Of those still counted; address NULL: of all. */
static struct guest *first_to_go(struct guests *all, const uint8_t *address, size_t *ret_n)
{
	struct guest *first = NULL;

	*ret_n = 0;
	for (struct guest *g = all->present; g; g = g->next) {
		if (g->leaving || (address && memcmp(g->address, address, 16) != 0))
			continue;
		(*ret_n)++;
		if (!first || goes_first(g, first))
			first = g;
	}
	return first;
}

struct guest *guests_in_the_way(struct guests *all, const struct sockaddr *addr)
{
	uint8_t address[16];
	struct guest *g;
	size_t n;

	copy_address(address, addr);
	g = first_to_go(all, address, &n);
	if (n >= GUESTS_PER_ADDRESS)
		return g;
	g = first_to_go(all, NULL, &n);
	return n >= GUESTS_MAX ? g : NULL;
}

struct guest *guests_longest(struct guests *all)
{
	size_t n;

	return first_to_go(all, NULL, &n);
}

static uint64_t longest(enum guest_phase phase)
{
	switch (phase) {
	case GUEST_WAITING:
		return GUEST_WAIT_MAX_NS;
	case GUEST_READING:
		return GUEST_READ_MAX_NS;
	case GUEST_WRITING:
		return GUEST_WRITE_MAX_NS;
	}
	return 0;
}

struct guest *guests_overdue(struct guests *all, uint64_t now_ns)
{
	for (struct guest *g = all->present; g; g = g->next) {
		if (!g->leaving && now_ns - g->since_ns > longest(g->phase))
			return g;
	}
	return NULL;
}

struct guest *guests_holding(struct guests *all, const void *held)
{
	for (struct guest *g = all->present; g; g = g->next) {
		if (!g->leaving && g->holds == held)
			return g;
	}
	return NULL;
}
