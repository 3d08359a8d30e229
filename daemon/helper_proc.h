/* A helper of main: this very program, started with a flag for work that may hang, at the other end
 * of a SOCK_SEQPACKET pair. Here is its life; what is said over the pair is its user's. */
#pragma once
#include <stdbool.h>

#include "core/loop.h"

struct helper_proc;

struct helper_events {
	/* There is something to be read from helper_proc_fd(). False: nothing will come any more.
	 */
	bool (*readable)(void *arg);
	/* It ended although helper_proc_end() was not called; reaped, and its end of the pair is
	 * closed. */
	void (*ended)(void *arg, const siginfo_t *info);
};

/* flag: "--resolver"; must live as long. NULL: no memory. Nothing runs before the first start. */
struct helper_proc *helper_proc_new(struct loop *loop, const char *flag,
				    const struct helper_events *events, void *arg);
/* Each one that is started from now on has this descriptor of ours too, as its fd 4. */
void helper_proc_lend(struct helper_proc *h, int fd);
void helper_proc_free(struct helper_proc *h); /* kills it; NULL is fine */
/* The same, but it is left to end by itself, as it does without its pair. */
void helper_proc_free_unharmed(struct helper_proc *h);
/* No leave while one that was told to end is not gone, and for a while after one that ended by
 * itself or could not be started: the more of those in a row, the longer. */
bool helper_proc_may_start(struct helper_proc *h, uint64_t now_ns);
/* With or without leave, but not beside another: 0; -EBUSY; or -errno, and nothing runs. */
int helper_proc_start(struct helper_proc *h, uint64_t now_ns);
/* main's end of the pair; -1: none runs that was not told to end. */
int helper_proc_fd(const struct helper_proc *h);
/* SIGKILL; that it ended is told as ever. */
void helper_proc_kill(struct helper_proc *h);
/* Nothing is expected of it any more, and nothing of it is told. */
void helper_proc_end(struct helper_proc *h);
