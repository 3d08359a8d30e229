/* A made-up host: as many rails and peers as wanted, everything filled in, the same each time. */
#pragma once
#include "health/snapshot.h"

struct synthetic {
	unsigned rails, peers;
	bool ops[OP_COUNT];
	bool vendors;  /* devices of other vendors besides, with their odd names */
	bool hostile;  /* names that must be escaped, not UTF-8, values at their ends */
	bool netdev;   /* statistics of the netdevs, of all vendors in one, and their setup */
	bool also;     /* names of other exporters besides */
	bool loopback; /* each rail has a session to itself */
	bool fresh;    /* nothing has happened yet: no probe, no connection, no counter */
	uint64_t max_series;
	enum per_peer_mode per_peer;
};

/* 2 rails, 2 peers, send, read and write. */
extern const struct synthetic synthetic_default;

/* Instants are fixed except mono_ns, which is the one given. NULL: no memory. */
struct snapshot *synthetic_snapshot(const struct synthetic *wanted, uint64_t mono_ns);
