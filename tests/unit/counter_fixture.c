#include "counter_fixture.h"

#include <errno.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

int __real_openat(int dir_fd, const char *path, int flags, ...);
int __wrap_openat(int dir_fd, const char *path, int flags, ...);
ssize_t __real_pread(int fd, void *buffer, size_t size, off_t at);
ssize_t __wrap_pread(int fd, void *buffer, size_t size, off_t at);
int __real_fstatfs(int fd, struct statfs *ret);
int __wrap_fstatfs(int fd, struct statfs *ret);
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

struct trap trap;

static bool ends_with(const char *path, const char *end)
{
	size_t path_len = strlen(path), end_len = strlen(end);

	return path_len >= end_len && strcmp(path + path_len - end_len, end) == 0;
}

int __wrap_openat(int dir_fd, const char *path, int flags, ...)
{
	int fd = -1;

	if (trap.failing_open && ends_with(path, trap.failing_open))
		errno = EMFILE;
	else
		fd = __real_openat(dir_fd, path, flags);
	if (trap.fatal && ends_with(path, trap.fatal))
		sysfs_tree_show(trap.root, NULL);
	if (trap.counted && ends_with(path, trap.counted)) {
		trap.opens++;
		trap.counted_fd = fd;
	}
	if (trap.failing && ends_with(path, trap.failing))
		trap.fd = fd;
	return fd;
}

int __wrap_fstatfs(int fd, struct statfs *ret)
{
	int r = __real_fstatfs(fd, ret);

	if (trap.sysfs)
		ret->f_type = SYSFS_MAGIC;
	else if (trap.other)
		ret->f_type = OVERLAYFS_SUPER_MAGIC;
	return r;
}

ssize_t __wrap_pread(int fd, void *buffer, size_t size, off_t at)
{
	if (trap.failing && fd == trap.fd) {
		trap.fd = -1;
		errno = trap.error;
		return -1;
	}
	return __real_pread(fd, buffer, size, at);
}

void *__wrap_malloc(size_t size)
{
	trap.allocations++;
	return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	trap.allocations++;
	return __real_calloc(n, size);
}

int reader_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	memset(&trap, 0, sizeof(trap));
	trap.fd = -1;
	f->now_ns = 1000 * NSEC_PER_SEC;
	sysfs_tree_make(f->root);
	*state = f;
	return 0;
}

int reader_teardown(void **state)
{
	struct fixture *f = *state;

	memset(&trap, 0, sizeof(trap));
	counter_reader_free(f->reader);
	sysfs_tree_remove(f->root);
	free(f);
	return 0;
}

void open_root(struct fixture *f, const char *root, const char *device)
{
	counter_reader_free(f->reader);
	f->reader = counter_reader_new(root, device);
	assert_non_null(f->reader);
}

/* A round `after` seconds later than the last. */
int run(struct fixture *f, uint64_t after)
{
	f->now_ns += after * NSEC_PER_SEC;
	return counter_reader_run(f->reader, &f->round, f->now_ns,
				  f->wall_ns ? f->wall_ns : f->now_ns + 5);
}

void read_tree(struct fixture *f, const char *tree, const char *device)
{
	char root[512];

	snprintf(root, sizeof(root), "%s/%s", SYSFS_TREES, tree);
	open_root(f, root, device);
	assert_int_equal(run(f, 0), 0);
}

const struct counter_value *find(const struct fixture *f, uint8_t port, enum counter_source source,
				 const char *name)
{
	for (uint32_t i = 0; i < f->round.n_values; i++) {
		const struct counter_value *v = &f->round.values[i];

		if (v->port == port && v->source == source && strcmp(v->name, name) == 0)
			return v;
	}
	return NULL;
}

void check_value(const struct fixture *f, uint8_t port, enum counter_source source,
		 const char *name, uint64_t value)
{
	const struct counter_value *v = find(f, port, source, name);

	if (!v)
		fail_msg("%s is absent", name);
	if (v->value != value)
		fail_msg("%s is %llu", name, (unsigned long long)v->value);
}

void check_absent(const struct fixture *f, uint8_t port, enum counter_source source,
		  const char *name)
{
	if (find(f, port, source, name))
		fail_msg("%s is there", name);
}

uint32_t count_values(const struct fixture *f, uint8_t port, enum counter_source source)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->round.n_values; i++)
		n += f->round.values[i].port == port && f->round.values[i].source == source;
	return n;
}

uint64_t count_errors(const struct fixture *f)
{
	uint64_t n = 0;

	for (size_t i = 0; i <= PORT_MAX; i++) {
		for (size_t j = 0; j < READ_ERROR_COUNT; j++)
			n += f->round.read_errors[i][j];
	}
	return n;
}
