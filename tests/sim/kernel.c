#include "kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_FD 100000
#define FDS_MAX 512

enum kind { KIND_FREE, KIND_EVENT, KIND_SOCKET, KIND_MEMORY };

struct packet {
	struct packet *next;
	size_t len;
	uint8_t data[];
};

/* Shared by descriptors and mappings. */
struct memory {
	void *at;
	size_t size;
	unsigned users;
};

struct descriptor {
	enum kind kind;
	int flags, seals;
	uint64_t counter;		/* event */
	int peer;			/* socket; -1: closed */
	struct packet *first, **last;	/* that wait to be read */
	unsigned packets, packets_most; /* of which there may be so many */
	struct memory *memory;
};

static struct descriptor table[FDS_MAX];
static unsigned n_open, next_fd;
static uint64_t random_state;
static void (*on_send)(int fd, const void *data, size_t len);
static struct memory *mappings[FDS_MAX];

/* libc's, and ours in its place; the linker names them. */
int __real_eventfd(unsigned initial, int flags);
ssize_t __real_read(int fd, void *buf, size_t len);
ssize_t __real_write(int fd, const void *buf, size_t len);
int __real_close(int fd);
int __real_fcntl(int fd, int cmd, ...);
ssize_t __real_send(int fd, const void *buf, size_t len, int flags);
ssize_t __real_recv(int fd, void *buf, size_t len, int flags);
int __real_memfd_create(const char *name, unsigned flags);
int __real_ftruncate(int fd, off_t size);
int __real_fstat(int fd, struct stat *st);
void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
int __real_munmap(void *addr, size_t len);
int __wrap_eventfd(unsigned initial, int flags);
ssize_t __wrap_read(int fd, void *buf, size_t len);
ssize_t __wrap_write(int fd, const void *buf, size_t len);
int __wrap_close(int fd);
int __wrap_fcntl(int fd, int cmd, ...);
ssize_t __wrap_send(int fd, const void *buf, size_t len, int flags);
ssize_t __wrap_recv(int fd, void *buf, size_t len, int flags);
int __wrap_memfd_create(const char *name, unsigned flags);
int __wrap_ftruncate(int fd, off_t size);
int __wrap_fstat(int fd, struct stat *st);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
int __wrap_munmap(void *addr, size_t len);
ssize_t __wrap_getrandom(void *buf, size_t len, unsigned flags);
char *__wrap_if_indextoname(unsigned index, char *name);
int __wrap_gethostname(char *name, size_t len);

static struct descriptor *get(int fd)
{
	if (fd < FIRST_FD || fd >= FIRST_FD + FDS_MAX)
		return NULL;
	return table[fd - FIRST_FD].kind == KIND_FREE ? NULL : &table[fd - FIRST_FD];
}

static int take(enum kind kind, int flags)
{
	/* In turn, so that a descriptor used after its end is noticed. */
	for (unsigned i = 0; i < FDS_MAX; i++) {
		unsigned at = (next_fd + i) % FDS_MAX;

		if (table[at].kind != KIND_FREE)
			continue;
		table[at] = (struct descriptor){.kind = kind, .flags = flags, .peer = -1};
		next_fd = at + 1;
		n_open++;
		return FIRST_FD + (int)at;
	}
	errno = EMFILE;
	return -1;
}

void kernel_begin(uint64_t seed)
{
	random_state = seed | 1;
	next_fd = 0;
}

unsigned kernel_open(void)
{
	return n_open;
}

void kernel_watch_sends(void (*fn)(int fd, const void *data, size_t len))
{
	on_send = fn;
}

bool kernel_readable(int fd)
{
	const struct descriptor *d = get(fd);

	if (!d)
		return false;
	if (d->kind == KIND_EVENT)
		return d->counter;
	return d->kind == KIND_SOCKET && (d->first || d->peer < 0);
}

/* --- event descriptors --- */

int __wrap_eventfd(unsigned initial, int flags)
{
	int fd = take(KIND_EVENT, flags & EFD_NONBLOCK ? O_NONBLOCK : 0);

	if (fd >= 0)
		get(fd)->counter = initial;
	return fd;
}

ssize_t __wrap_read(int fd, void *buf, size_t len)
{
	struct descriptor *d = get(fd);

	if (!d)
		return __real_read(fd, buf, len);
	if (!d->counter) {
		/* One that waits would wait for ever: there is no other thread. */
		if (!(d->flags & O_NONBLOCK))
			abort();
		errno = EAGAIN;
		return -1;
	}
	memcpy(buf, &d->counter, sizeof(d->counter));
	d->counter = 0;
	return sizeof(d->counter);
}

ssize_t __wrap_write(int fd, const void *buf, size_t len)
{
	struct descriptor *d = get(fd);
	uint64_t more;

	if (!d)
		return __real_write(fd, buf, len);
	memcpy(&more, buf, sizeof(more));
	d->counter += more;
	return sizeof(more);
}

/* --- packet sockets --- */

void kernel_socketpair(int ret[2], unsigned packets)
{
	for (int i = 0; i < 2; i++) {
		struct descriptor *d;

		ret[i] = take(KIND_SOCKET, O_NONBLOCK);
		d = get(ret[i]);
		d->last = &d->first;
		d->packets_most = packets;
	}
	get(ret[0])->peer = ret[1];
	get(ret[1])->peer = ret[0];
}

ssize_t __wrap_send(int fd, const void *buf, size_t len, int flags)
{
	struct descriptor *d = get(fd), *to;
	struct packet *p;

	if (!d)
		return __real_send(fd, buf, len, flags);
	if (on_send)
		on_send(fd, buf, len);
	to = get(d->peer);
	if (!to || to->packets >= to->packets_most) {
		errno = to ? EAGAIN : EPIPE;
		return -1;
	}
	p = malloc(sizeof(*p) + len);
	p->next = NULL;
	p->len = len;
	memcpy(p->data, buf, len);
	*to->last = p;
	to->last = &p->next;
	to->packets++;
	return (ssize_t)len;
}

ssize_t __wrap_recv(int fd, void *buf, size_t len, int flags)
{
	struct descriptor *d = get(fd);
	struct packet *p;
	size_t whole;

	if (!d)
		return __real_recv(fd, buf, len, flags);
	p = d->first;
	if (!p) {
		errno = EAGAIN;
		return d->peer < 0 ? 0 : -1;
	}
	whole = p->len;
	memcpy(buf, p->data, whole < len ? whole : len);
	d->first = p->next;
	if (!d->first)
		d->last = &d->first;
	d->packets--;
	free(p);
	return (ssize_t)whole; /* MSG_TRUNC: its true length */
}

/* --- memory files --- */

static void release(struct memory *m)
{
	if (--m->users)
		return;
	__real_munmap(m->at, m->size);
	free(m);
}

int __wrap_memfd_create(const char *name, unsigned flags)
{
	int fd = take(KIND_MEMORY, 0);

	(void)name;
	(void)flags;
	if (fd < 0)
		return -1;
	get(fd)->memory = calloc(1, sizeof(struct memory));
	get(fd)->memory->users = 1;
	return fd;
}

int __wrap_ftruncate(int fd, off_t size)
{
	struct descriptor *d = get(fd);

	if (!d)
		return __real_ftruncate(fd, size);
	d->memory->size = (size_t)size;
	d->memory->at = __real_mmap(NULL, d->memory->size, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return d->memory->at == MAP_FAILED ? -1 : 0;
}

int __wrap_fstat(int fd, struct stat *st)
{
	struct descriptor *d = get(fd);

	if (!d)
		return __real_fstat(fd, st);
	memset(st, 0, sizeof(*st));
	st->st_size = (off_t)d->memory->size;
	return 0;
}

void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	struct descriptor *d = get(fd);
	unsigned i = 0;

	if (!d)
		return __real_mmap(addr, len, prot, flags, fd, offset);
	while (mappings[i])
		i++;
	mappings[i] = d->memory;
	d->memory->users++;
	return d->memory->at;
}

int __wrap_munmap(void *addr, size_t len)
{
	for (unsigned i = 0; i < FDS_MAX; i++) {
		struct memory *m = mappings[i];

		if (!m || m->at != addr)
			continue;
		mappings[i] = NULL;
		release(m);
		return 0;
	}
	return __real_munmap(addr, len);
}

/* --- all of them --- */

static void close_socket(struct descriptor *d)
{
	struct descriptor *peer = get(d->peer);

	while (d->first) {
		struct packet *p = d->first;

		d->first = p->next;
		free(p);
	}
	if (peer)
		peer->peer = -1;
}

int __wrap_close(int fd)
{
	struct descriptor *d = get(fd);

	if (!d) {
		if (fd >= FIRST_FD) /* closed twice */
			abort();
		return __real_close(fd);
	}
	if (d->kind == KIND_SOCKET)
		close_socket(d);
	else if (d->kind == KIND_MEMORY)
		release(d->memory);
	d->kind = KIND_FREE;
	n_open--;
	return 0;
}

int __wrap_fcntl(int fd, int cmd, ...)
{
	struct descriptor *d = get(fd);
	va_list ap;
	int arg;

	va_start(ap, cmd);
	arg = va_arg(ap, int);
	va_end(ap);
	if (!d)
		return __real_fcntl(fd, cmd, arg);
	switch (cmd) {
	case F_GETFL:
		return d->flags;
	case F_SETFL:
		d->flags = arg;
		return 0;
	case F_ADD_SEALS:
		d->seals |= arg;
		return 0;
	case F_GET_SEALS:
		return d->seals;
	default:
		abort();
	}
}

/* --- what else is not the same in every run --- */

ssize_t __wrap_getrandom(void *buf, size_t len, unsigned flags)
{
	uint8_t *to = buf;

	(void)flags;
	for (size_t i = 0; i < len; i++) {
		random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
		to[i] = (uint8_t)(random_state >> 40);
	}
	return (ssize_t)len;
}

int __wrap_gethostname(char *name, size_t len)
{
	strncpy(name, "simulated", len);
	return 0;
}

char *__wrap_if_indextoname(unsigned index, char *name)
{
	strcpy(name, "eth0");
	name[3] = (char)('0' + index % 10);
	return name;
}
