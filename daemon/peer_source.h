/* The peer list with where it came from: the `peer` lines of the configuration, then the peer
 * file. Taken whole or not at all: a file that cannot be read, is no list, or lost most of its
 * targets leaves the list in force as it is. */
#pragma once
#include "daemon/config.h"
#include "daemon/peer_file.h"

#define PEER_SHRINK_MIN 8 /* targets; of fewer, half may be a decision */

struct peer_source { /* zeroed: an empty list */
	struct peer_list list;
	char path[CONFIG_PATH_MAX]; /* of the file; "": none */
	bool has_file;		    /* the list holds what a version of the file says */
	uint64_t file_hash;	    /* of that version's content */
	size_t n_targets;	    /* that it has, bad ones left out */
	size_t n_refused;	    /* its bad ones */
};

void peer_source_free(struct peer_source *s);
struct peer_source_ways {
	/* As peer_file_read(); NULL: that, however long it takes. */
	ssize_t (*read)(void *arg, const char *path, char **ret, char *err, size_t errlen);
	/* Told of each bad target, with the file's name. */
	void (*warn)(void *arg, const char *text);
	void *arg; /* of both */
};

/* What config asks for, read now, into *ret, in place of `now`. 0; or -errno with a message that
 * names the file: *ret is untouched. */
int peer_source_read(struct peer_source *ret, const struct config *config,
		     const struct peer_source *now, const struct peer_source_ways *ways, char *err,
		     size_t errlen);
/* The list without the file, for a start when that cannot be read: 0 or -ENOMEM. */
int peer_source_without_file(struct peer_source *ret, const struct config *config);
