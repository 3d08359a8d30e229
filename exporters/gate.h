/* Who is let in, by user and password. What was checked once is known from then on, right or wrong,
 * by a keyed digest in memory: a scrape every second costs no hash, and neither does a scraper with
 * an old password. New passwords are checked by a thread (exporters/checker.h), few at a time and
 * after a wrong one only once a second for each client address. */
#pragma once
#include <stdint.h>

struct gate;
struct loop;
struct users;

enum gate_answer {
	GATE_ASK,    /* not known yet; gate_told_fn is called, once */
	GATE_OPEN,   /* come in */
	GATE_DENIED, /* no or wrong credentials */
	GATE_BUSY,   /* too many are being checked: later */
};

/* who is the one of gate_ask(). GATE_ASK: the users have changed meanwhile, ask again. */
typedef void (*gate_told_fn)(void *arg, void *who, enum gate_answer answer);

struct gate *gate_new(struct loop *loop, gate_told_fn told, void *arg); /* NULL with errno */
void gate_free(struct gate *g); /* tells nobody any more; NULL is fine */
/* NULL: all are let in. 0, or -errno and nothing has changed. */
int gate_set_users(struct gate *g, struct users *users);
/* authorization: the header, NULL for none. address: of the client, IPv4 as v4-mapped. */
enum gate_answer gate_ask(struct gate *g, const char *authorization, const uint8_t address[16],
			  void *who, uint64_t now_ns);
