/* The event loop of main, over sd-event. Callbacks run in the loop's thread, one at a time.
 * A source is owned by its creator; loop_source_free(NULL) is fine; freeing a source inside its
 * own callback is allowed. */
#pragma once
#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

struct loop;
struct loop_source;

typedef void (*loop_io_fn)(void *arg, int fd, uint32_t epoll_events);
typedef void (*loop_timer_fn)(void *arg, uint64_t now_ns);
typedef void (*loop_signal_fn)(void *arg, int signo);
typedef void (*loop_child_fn)(void *arg, pid_t pid, const siginfo_t *info);

struct loop *loop_new(void); /* NULL with errno */
void loop_free(struct loop *loop);
int loop_run(struct loop *loop); /* until loop_exit(); its code, or -errno */
void loop_exit(struct loop *loop, int code);
struct sd_event *loop_sd_event(struct loop *loop); /* for sd-device monitors; not owned */

/* Level-triggered; events as for epoll. */
struct loop_source *loop_add_io(struct loop *loop, int fd, uint32_t events, loop_io_fn fn,
				void *arg);
int loop_io_set_events(struct loop_source *s, uint32_t events);
/* One shot at an instant of clock_now_ns(), accuracy 1 ms; created disarmed. */
struct loop_source *loop_add_timer(struct loop *loop, loop_timer_fn fn, void *arg);
int loop_timer_arm(struct loop_source *s, uint64_t at_ns); /* 0 is "at once" */
void loop_timer_disarm(struct loop_source *s);
/* The signal is blocked for the process and delivered here. */
struct loop_source *loop_add_signal(struct loop *loop, int signo, loop_signal_fn fn, void *arg);
/* Once, when the child has ended; it is reaped. */
struct loop_source *loop_add_child(struct loop *loop, pid_t pid, loop_child_fn fn, void *arg);
/* After every other source of this round, e.g. to drive a library. NULL on failure. */
void loop_source_free(struct loop_source *s);
