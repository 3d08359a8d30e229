/* Tells when a file may have changed: written, renamed into place, or behind a symbolic link that
 * was swapped, as ConfigMaps are. By inotify on its directories, and by a slow look as well, for
 * network file systems tell nothing. */
#pragma once
#include "core/loop.h"

#define PEER_WATCH_SETTLE_NS 200000000ULL /* events of this long are one change */
#define PEER_WATCH_LOOK_NS 10000000000ULL /* the slow look */

struct peer_watch;

/* NULL with errno. Without inotify it only looks. */
struct peer_watch *peer_watch_new(struct loop *loop, void (*changed)(void *arg), void *arg);
void peer_watch_free(struct peer_watch *w);
/* "": none. The caller reads it by itself at first; one change too many may be told then. */
void peer_watch_follow(struct peer_watch *w, const char *path);
