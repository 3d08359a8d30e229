/* Files of sysfs that are kept open from round to round: the kernel makes an attribute's text anew
 * for each pread() from its beginning, and answers ENODEV once the attribute is gone, so that a
 * descriptor there saves opening and closing and holds up nobody. Anywhere else a file may be
 * replaced behind an open descriptor: those are opened, read and closed. Counter thread only. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HELD_MAX 512 /* descriptors of one device */
/* Descriptors that stay free for everybody else in the process. */
#define HELD_RESERVE 256

struct held {	    /* zeroed: not open */
	int number; /* the descriptor plus one; 0: none */
	bool never; /* it is no file of sysfs */
};

struct held_room {
	uint32_t n, max;
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
/* Files below dir_fd are files of sysfs. */
bool held_in_sysfs(int dir_fd);
