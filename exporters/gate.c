#include "exporters/gate.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/clock.h"
#include "exporters/checker.h"
#include "exporters/credentials.h"
#include "exporters/users.h"

#define DIGEST_SIZE 32
#define GOOD_MAX 64    /* pairs of user and password that are known to be right */
#define BAD_MAX 256    /* and wrong */
#define WAITERS_MAX 64 /* requests that wait for a check */
#define PER_ADDRESS 2  /* checks at a time of a client address */
#define WRONG_MAX 64   /* addresses that are remembered for a wrong password */
#define WRONG_WAIT_NS (1 * NSEC_PER_SEC)

struct digest {
	uint8_t byte[DIGEST_SIZE];
};

/* The youngest ones. */
struct known {
	struct digest *list;
	unsigned max, n, next;
};

struct waiter {
	void *who;
	unsigned slot;
};

struct slot {
	bool used, known_user;
	struct digest digest;
	uint8_t address[16];
	uint64_t generation;
};

struct wrong {
	uint8_t address[16];
	uint64_t until_ns;
};

struct gate {
	struct loop *loop;
	gate_told_fn told;
	void *arg;
	struct users *users; /* NULL: open to all */
	uint64_t generation; /* of users */
	struct checker *checker;
	uint8_t key[DIGEST_SIZE];
	struct digest good_list[GOOD_MAX], bad_list[BAD_MAX];
	struct known good, bad;
	struct slot slot[CHECKER_MAX];
	struct waiter waiter[WAITERS_MAX];
	unsigned n_waiters;
	struct wrong wrong[WRONG_MAX];
};

/* --- what is known --- */

static bool is_known(const struct known *k, const struct digest *d)
{
	for (unsigned i = 0; i < k->n; i++)
		if (gnutls_memcmp(&k->list[i], d, sizeof(*d)) == 0)
			return true;
	return false;
}

static void learn(struct known *k, const struct digest *d)
{
	k->list[k->next] = *d;
	k->next = (k->next + 1) % k->max;
	if (k->n < k->max)
		k->n++;
}

static void forget_all(struct gate *g)
{
	g->good = (struct known){.list = g->good_list, .max = GOOD_MAX};
	g->bad = (struct known){.list = g->bad_list, .max = BAD_MAX};
}

/* With a key of this process: what a core dump shows of it is no use to guess from elsewhere. */
static bool digest(const struct gate *g, const struct credentials *c, struct digest *ret)
{
	char text[sizeof(c->user) + sizeof(c->password)];
	size_t user = strlen(c->user) + 1, password = strlen(c->password);
	int r;

	memcpy(text, c->user, user);
	memcpy(text + user, c->password, password);
	r = gnutls_hmac_fast(GNUTLS_MAC_SHA256, g->key, sizeof(g->key), text, user + password, ret);
	explicit_bzero(text, sizeof(text));
	return r == 0;
}

/* --- who was wrong lately --- */

static bool was_wrong(const struct gate *g, const uint8_t address[16], uint64_t now_ns)
{
	for (unsigned i = 0; i < WRONG_MAX; i++)
		if (now_ns < g->wrong[i].until_ns && memcmp(g->wrong[i].address, address, 16) == 0)
			return true;
	return false;
}

static void note_wrong(struct gate *g, const uint8_t address[16])
{
	struct wrong *oldest = &g->wrong[0];

	for (unsigned i = 0; i < WRONG_MAX; i++)
		if (g->wrong[i].until_ns < oldest->until_ns)
			oldest = &g->wrong[i];
	memcpy(oldest->address, address, 16);
	oldest->until_ns = clock_now_ns() + WRONG_WAIT_NS;
}

/* --- checks --- */

static struct slot *find_slot(struct gate *g, const struct digest *d)
{
	for (unsigned i = 0; i < CHECKER_MAX; i++)
		if (g->slot[i].used && g->slot[i].generation == g->generation &&
		    gnutls_memcmp(&g->slot[i].digest, d, sizeof(*d)) == 0)
			return &g->slot[i];
	return NULL;
}

/* NULL: this address, or everybody together, has enough of them. */
static struct slot *take_slot(struct gate *g, const uint8_t address[16])
{
	struct slot *free_one = NULL;
	unsigned n = 0;

	for (unsigned i = 0; i < CHECKER_MAX; i++) {
		if (!g->slot[i].used)
			free_one = &g->slot[i];
		else if (memcmp(g->slot[i].address, address, 16) == 0)
			n++;
	}
	return n < PER_ADDRESS ? free_one : NULL;
}

static bool submit(struct gate *g, const struct slot *s, const struct credentials *c,
		   const char *hash)
{
	struct check check = {.tag = (unsigned)(s - g->slot)};
	bool taken;

	memcpy(check.password, c->password, sizeof(check.password));
	memcpy(check.hash, hash, strlen(hash) + 1);
	taken = checker_submit(g->checker, &check);
	explicit_bzero(&check, sizeof(check));
	return taken;
}

static struct slot *begin_check(struct gate *g, const struct credentials *c, const struct digest *d,
				const uint8_t address[16])
{
	struct slot *s = take_slot(g, address);
	bool known_user;
	const char *hash = users_hash(g->users, c->user, &known_user);

	if (!s || !submit(g, s, c, hash))
		return NULL;
	*s = (struct slot){
		.used = true, .known_user = known_user, .digest = *d, .generation = g->generation};
	memcpy(s->address, address, 16);
	return s;
}

/* Calls back only when nothing in here is half changed: it may ask again. */
static void tell(struct gate *g, unsigned slot, enum gate_answer answer)
{
	void *who[WAITERS_MAX];
	unsigned n = 0, kept = 0;

	for (unsigned i = 0; i < g->n_waiters; i++) {
		if (g->waiter[i].slot == slot)
			who[n++] = g->waiter[i].who;
		else
			g->waiter[kept++] = g->waiter[i];
	}
	g->n_waiters = kept;
	for (unsigned i = 0; i < n; i++)
		g->told(g->arg, who[i], answer);
}

static void on_checked(void *arg, unsigned tag, bool matches)
{
	struct gate *g = arg;
	struct slot *s = &g->slot[tag];
	bool good = matches && s->known_user;

	s->used = false;
	if (s->generation != g->generation) {
		tell(g, tag, GATE_ASK);
		return;
	}
	learn(good ? &g->good : &g->bad, &s->digest);
	if (!good)
		note_wrong(g, s->address);
	tell(g, tag, good ? GATE_OPEN : GATE_DENIED);
}

static enum gate_answer ask(struct gate *g, const struct credentials *c, const uint8_t address[16],
			    void *who, uint64_t now_ns)
{
	struct digest d;
	struct slot *s;

	if (!digest(g, c, &d))
		return GATE_BUSY;
	if (is_known(&g->good, &d))
		return GATE_OPEN;
	if (is_known(&g->bad, &d))
		return GATE_DENIED;
	s = find_slot(g, &d);
	if (!s && was_wrong(g, address, now_ns))
		return GATE_BUSY;
	if (g->n_waiters == WAITERS_MAX)
		return GATE_BUSY;
	if (!s)
		s = begin_check(g, c, &d, address);
	if (!s)
		return GATE_BUSY;
	g->waiter[g->n_waiters++] = (struct waiter){who, (unsigned)(s - g->slot)};
	return GATE_ASK;
}

enum gate_answer gate_ask(struct gate *g, const char *authorization, const uint8_t address[16],
			  void *who, uint64_t now_ns)
{
	struct credentials c;
	enum gate_answer answer = GATE_DENIED;

	if (!g->users)
		return GATE_OPEN;
	if (credentials_parse(&c, authorization))
		answer = ask(g, &c, address, who, now_ns);
	credentials_forget(&c);
	return answer;
}

/* --- life --- */

int gate_set_users(struct gate *g, struct users *users)
{
	if (users_equal(g->users, users))
		return 0;
	if (users && !g->checker)
		g->checker = checker_new(g->loop, on_checked, g);
	if (users && !g->checker)
		return -errno;
	users_unref(g->users);
	g->users = users_ref(users);
	g->generation++;
	forget_all(g);
	return 0;
}

struct gate *gate_new(struct loop *loop, gate_told_fn told, void *arg)
{
	struct gate *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->loop = loop;
	g->told = told;
	g->arg = arg;
	forget_all(g);
	if (getrandom(g->key, sizeof(g->key), 0) == sizeof(g->key))
		return g;
	free(g);
	return NULL;
}

void gate_free(struct gate *g)
{
	if (!g)
		return;
	checker_free(g->checker);
	users_unref(g->users);
	explicit_bzero(g, sizeof(*g));
	free(g);
}
