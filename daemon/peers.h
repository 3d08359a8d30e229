/* The peer list as it stands: one target per endpoint. Labels come from here only. */
#pragma once
#include "daemon/address.h"
#include "probes/facts.h"

struct peer_list;
struct peers;

struct target {
	char host[FACT_NAME]; /* the `peer` of metrics and JSON */
	char rail[FACT_NAME]; /* "" when the list has none */
	char rack[FACT_NAME], pod[FACT_NAME];
	char text[FACT_ADDRESS]; /* the address as people write it; "" while it is not known */
	union address address;	 /* AF_UNSPEC while it is not known */
};

struct peers *peers_new(void); /* NULL: no memory */
void peers_free(struct peers *p);
/* Take a list, in its order. 0 or -ENOMEM (the old list stays). */
int peers_load(struct peers *p, const struct peer_list *list);
/* An address of one of this host's rails: never a target from now on. True when it is new. */
bool peers_learn_own(struct peers *p, const union address *a);
bool peers_is_own(const struct peers *p, const union address *a);
/* All of the list, own addresses too: who may connect. */
size_t peers_count(const struct peers *p);
const struct target *peers_get(const struct peers *p, size_t i);
/* Own addresses seen so far. */
size_t peers_own_count(const struct peers *p);
const union address *peers_own(const struct peers *p, size_t i);
/* The name that the list gives this host by its own address; NULL: none so far. */
const char *peers_mesh_name(const struct peers *p);
