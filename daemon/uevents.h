/* Kernel events about RDMA devices, by udev's monitor (subsystems infiniband, infiniband_verbs). */
#pragma once
#include "core/loop.h"

struct uevents;

struct uevents_callbacks {
	/* Some RDMA device came, went or changed. */
	void (*changed)(void *arg);
	/* Its verbs interface was removed. The kernel may now be waiting for those who hold it
	 * open, while class/infiniband still shows the device (so do rxe and siw). */
	void (*leaving)(void *arg, const char *device);
};

struct uevents *uevents_new(struct loop *loop, const struct uevents_callbacks *callbacks,
			    void *arg); /* NULL with errno */
void uevents_free(struct uevents *u);
/* Learn anew which verbs interface belongs to which device; at each scan. */
void uevents_refresh(struct uevents *u);
