/* To be preloaded: each process tells in $ALLOCATIONS/PID how often it asked for memory, and for
 * how many bytes lately. What opendir() asks for is libc's, which has no other way to list a
 * directory. */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define LATELY 15

struct account {
	_Atomic uint64_t calls;
	_Atomic uint64_t bytes[LATELY]; /* the call numbered n is at n % LATELY */
};

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static struct account *account;
static _Thread_local int listing;

__attribute__((constructor)) static void begin(void)
{
	const char *directory = getenv("ALLOCATIONS");
	char path[256];
	void *at;
	int fd;

	if (!directory)
		return;
	snprintf(path, sizeof(path), "%s/%d", directory, getpid());
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*account)) < 0)
		abort();
	at = mmap(NULL, sizeof(*account), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		abort();
	close(fd);
	account = at;
}

static void count(size_t size)
{
	uint64_t n;

	if (!account || listing)
		return;
	n = atomic_fetch_add(&account->calls, 1);
	atomic_store(&account->bytes[n % LATELY], size);
}

void *malloc(size_t size)
{
	count(size);
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	count(n * size);
	return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	count(size);
	return __libc_realloc(p, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	count(size);
	return __libc_memalign(alignment, size);
}

int posix_memalign(void **ret, size_t alignment, size_t size)
{
	count(size);
	*ret = __libc_memalign(alignment, size);
	return *ret ? 0 : 12; /* ENOMEM */
}

DIR *opendir(const char *name)
{
	static DIR *(*real)(const char *);
	DIR *dir;

	listing++;
	if (!real)
		real = (DIR * (*)(const char *)) dlsym(RTLD_NEXT, "opendir");
	dir = real(name);
	listing--;
	return dir;
}

DIR *fdopendir(int fd)
{
	static DIR *(*real)(int);
	DIR *dir;

	listing++;
	if (!real)
		real = (DIR * (*)(int)) dlsym(RTLD_NEXT, "fdopendir");
	dir = real(fd);
	listing--;
	return dir;
}
