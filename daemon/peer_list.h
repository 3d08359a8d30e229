/* Endpoints as people listed them, by `peer =` lines and in the peer file: each one once, under
 * one name and at one place. A place is an address, or a host name to be looked up. */
#pragma once
#include "daemon/address.h"
#include "probes/facts.h"

#define PEER_LIST_MAX 16384 /* endpoints: 1,000 hosts with 8 rails have room */
#define PEER_LOOKUP_MAX 254 /* bytes of a host name that DNS can hold, with NUL */

struct peer_entry {
	char host[FACT_NAME]; /* the `peer` of metrics and JSON */
	char rail[FACT_NAME]; /* "" when the list has none */
	char rack[FACT_NAME], pod[FACT_NAME];
	char *lookup;	       /* host name to look up for the address; NULL: it is known */
	union address address; /* AF_UNSPEC while lookup is set */
	/* for the list alone: its index by name and by place */
	uint64_t name_hash, place_hash;
	uint32_t next_name, next_place;
};

struct peer_list { /* zeroed: an empty one */
	struct peer_entry *entries;
	size_t n, cap;
	uint32_t *by_name, *by_place;
};

/* Takes a copy. 0; 0 with a remark in err when it was merged with an entry that is there; or
 * -EINVAL with a message: the list is full, or name or place contradict another entry. */
int peer_list_add(struct peer_list *l, const struct peer_entry *entry, char *err, size_t errlen);
/* Add all of from; it fits where from came from. 0 or -ENOMEM. */
int peer_list_copy(struct peer_list *to, const struct peer_list *from);
void peer_list_free(struct peer_list *l); /* and zero it */

/* "host" or "host/rail" */
void peer_entry_label(const struct peer_entry *e, char *buf, size_t len);
/* The address or the name to look up. */
void peer_entry_place(const struct peer_entry *e, char *buf, size_t len);

/* What `address = TEMPLATE` makes of an entry without address: its lookup name, in ret of
 * PEER_LOOKUP_MAX bytes; without a template it is the host. -EINVAL with a message. */
int peer_lookup_name(const char *template, const char *host, const char *rail, char *ret, char *err,
		     size_t errlen);
/* Is it a template that can work? It must tell hosts apart. */
int peer_template_check(const char *template, char *err, size_t errlen);
