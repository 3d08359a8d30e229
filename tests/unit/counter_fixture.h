/* A counter reader over a tree, with traps in the calls that it makes. Link with
 * -Wl,--wrap=openat,--wrap=pread,--wrap=fstatfs,--wrap=malloc,--wrap=calloc. */
#pragma once
#include "support.h"

#include "core/clock.h"
#include "probes/counter.h"
#include "sysfs_tree.h"

/* What the wrapped calls do. All is off in each test's beginning. */
struct trap {
	const char *failing; /* reading a path with this end fails with error */
	int error, fd;
	const char *counted;	  /* opens of a path with this end are counted */
	const char *failing_open; /* there is no descriptor for paths with this end */
	unsigned opens, allocations;
	int counted_fd;		  /* of the last of them */
	bool sysfs;		  /* the tree is to be taken for a /sys */
	bool other;		  /* and this for one of a file system that nobody knows */
	const char *fatal, *root; /* opening this path makes the tree at root lose its device */
};

extern struct trap trap;

struct fixture {
	char root[64]; /* of a tree to be changed */
	struct counter_reader *reader;
	struct counter_round round;
	uint64_t now_ns;
	uint64_t wall_ns; /* of the next rounds; 0: long before the tree was made */
};

int reader_setup(void **state);
int reader_teardown(void **state);
void open_root(struct fixture *f, const char *root, const char *device);
/* A round `after` seconds later than the last; what counter_reader_run() says. */
int run(struct fixture *f, uint64_t after);
/* The first round of a device of one of the trees made by tests/data/make_trees.py. */
void read_tree(struct fixture *f, const char *tree, const char *device);
const struct counter_value *find(const struct fixture *f, uint8_t port, enum counter_source source,
				 const char *name);
void check_value(const struct fixture *f, uint8_t port, enum counter_source source,
		 const char *name, uint64_t value);
void check_absent(const struct fixture *f, uint8_t port, enum counter_source source,
		  const char *name);
uint32_t count_values(const struct fixture *f, uint8_t port, enum counter_source source);
uint64_t count_errors(const struct fixture *f);
