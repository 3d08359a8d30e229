/* The peer list as it stands: one target per endpoint. Labels come from here only. */
#pragma once
#include "daemon/address.h"
#include "probes/facts.h"

#define TARGET_TROUBLE 160

struct lookups;
struct peer_list;
struct peers;

struct target {
	char host[FACT_NAME]; /* the `peer` of metrics and JSON */
	char rail[FACT_NAME]; /* "" when the list has none */
	char rack[FACT_NAME], pod[FACT_NAME];
	char text[FACT_ADDRESS]; /* the address as people write it; "" while it is not known */
	union address address;	 /* AF_UNSPEC while it is not known */
	bool doubled;  /* its name leads to an endpoint that another target is: not probed twice */
	bool loopback; /* a rail of ours, probed on request; none of the list is */
	bool ours;     /* its name leads to the loopback address */
	bool pending;  /* its name was not answered yet, and may be soon: no target yet */
	char trouble[TARGET_TROUBLE]; /* why its address is not known; "" when it is */
};

struct peers *peers_new(void); /* NULL: no memory */
void peers_free(struct peers *p);
/* Take a list, in its order. 0 or -ENOMEM (the old list stays). */
int peers_load(struct peers *p, const struct peer_list *list);
/* Give the targets that have a host name the address that is known for it; what is not known any
 * more stays. family() says which one a target wants, AF_UNSPEC: any. True when any changed. */
bool peers_place(struct peers *p, const struct lookups *lookups, uint64_t now_ns,
		 int (*family)(void *arg, const struct target *t), void *arg);
/* An address of one of this host's rails: never a target from now on. True when it is new. */
bool peers_learn_own(struct peers *p, const union address *a);
bool peers_is_own(const struct peers *p, const union address *a);
/* Is it there to be probed? Not yet, and not twice. */
bool target_ready(const struct target *t);
/* This host itself: by one of its addresses, or by a name that leads to the loopback one, as that
 * of a host does in its own /etc/hosts. */
bool peers_is_us(const struct peers *p, const struct target *t);
/* All of the list, own addresses too: who may connect. */
size_t peers_count(const struct peers *p);
const struct target *peers_get(const struct peers *p, size_t i);
/* Own addresses seen so far. */
size_t peers_own_count(const struct peers *p);
const union address *peers_own(const struct peers *p, size_t i);
/* The name that the list gives this host by its own address; NULL: none so far. */
const char *peers_mesh_name(const struct peers *p);
