/* What main and its helper that looks up host names tell each other: one struct a packet of a
 * SOCK_SEQPACKET pair. Both ends are the same binary. */
#pragma once
#include "daemon/address.h"
#include "daemon/peer_list.h"

#define RESOLVER_ADDRESSES 8 /* of one name; more are left out */
#define RESOLVER_ERROR_TEXT 64

struct resolver_question {
	uint64_t id;
	char name[PEER_LOOKUP_MAX];
};

struct resolver_answer {
	uint64_t id;
	uint32_t n;				     /* 0: failed, and error says why */
	union address addresses[RESOLVER_ADDRESSES]; /* in the resolver's order, usable ones only */
	char error[RESOLVER_ERROR_TEXT];
};

/* Well-formed for its reader, whoever wrote it. */
bool resolver_question_check(const struct resolver_question *q, size_t len);
bool resolver_answer_check(const struct resolver_answer *a, size_t len);
