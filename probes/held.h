/* Counter files that are kept open from round to round, where a descriptor reads what the name
 * would: in sysfs, where the kernel makes an attribute's text anew for each pread() from its
 * beginning and answers ENODEV once the attribute is gone; and in a tree of plain files, as long as
 * nobody put another file in the place of one, which the directory's time tells. A link may be
 * made to lead elsewhere without that, and a pipe answers once: those are opened, read and closed.
 * Counter thread only. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define HELD_MAX 512 /* descriptors of one device */
/* Descriptors that stay free for everybody else in the process. */
#define HELD_RESERVE 256

enum held_tree {
	TREE_OTHER, /* a descriptor may read what the name no longer means, or block */
	TREE_SYSFS,
	TREE_PLAIN, /* a local file system: a directory's time tells of each entry that changed */
};

struct held {	    /* zeroed: not open */
	int number; /* the descriptor plus one; 0: none */
	bool never; /* it is no plain file of the tree */
};

struct held_room {
	uint32_t n, max;
	dev_t dev;    /* of the tree: what is mounted into it is none of it */
	bool ran_out; /* an open failed for want of descriptors: give back what is held */
};

/* How many may be held by what the process may open at this moment. */
uint32_t held_limit(void);
/* As sysfs_read(), of a file that is not held; it is from then on where that is sound. */
int held_open_read(struct held *h, struct held_room *room, int dir_fd, const char *path, char *ret,
		   size_t size);
/* As sysfs_read(), of a file that is held. After an error, it is no longer; -ENODEV: the attribute
 * left, and may be back by its name. */
int held_read(struct held *h, struct held_room *room, char *ret, size_t size);
void held_close(struct held *h, struct held_room *room);
/* What files below dir_fd are files of. */
enum held_tree held_tree(int dir_fd);
