#include "daemon/kernel_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/log.h"
#include "core/names.h"
#include "daemon/kernel_record.h"

#define ALARMS_MAX 32	  /* functions; of more, the longest quiet goes */
#define RECORDS_A_TURN 64 /* the log of a long life has thousands */

struct alarm {
	char pci_address[32]; /* "": free */
	char text[FACT_TEXT]; /* the last sentence */
	uint64_t first_ns, last_ns;
};

struct kernel_log {
	int fd;
	struct loop_source *io;
	struct alarm alarms[ALARMS_MAX];
};

static struct alarm *place(struct kernel_log *k, const char *pci_address)
{
	struct alarm *oldest = &k->alarms[0];

	for (size_t i = 0; i < ALARMS_MAX; i++) {
		if (!strcmp(k->alarms[i].pci_address, pci_address))
			return &k->alarms[i];
		if (k->alarms[i].last_ns < oldest->last_ns)
			oldest = &k->alarms[i];
	}
	*oldest = (struct alarm){0};
	name_copy(oldest->pci_address, sizeof(oldest->pci_address), pci_address);
	return oldest;
}

/* The log's clock is the monotonic one to within what a host drifts. */
static void take(struct kernel_log *k, const struct kernel_alarm *a)
{
	struct alarm *alarm = place(k, a->pci_address);

	if (!alarm->last_ns || a->boot_ns > alarm->last_ns + KERNEL_LOG_STANDS_NS)
		alarm->first_ns = a->boot_ns;
	alarm->last_ns = a->boot_ns;
	name_copy(alarm->text, sizeof(alarm->text), a->text);
}

static void on_readable(void *arg, int fd, uint32_t events)
{
	struct kernel_log *k = arg;
	char record[KERNEL_RECORD_MAX];
	struct kernel_alarm alarm;

	(void)events;
	for (unsigned i = 0; i < RECORDS_A_TURN; i++) {
		ssize_t n = read(fd, record, sizeof(record));

		/* Overwritten before it was read: the next one follows. */
		if (n < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			log_warn("%s cannot be read any more (%s)", KERNEL_LOG_PATH,
				 n < 0 ? strerror(errno) : "it ended");
			loop_source_free(k->io);
			k->io = NULL;
			return;
		}
		if (kernel_record_alarm(record, (size_t)n, &alarm))
			take(k, &alarm);
	}
}

struct kernel_log *kernel_log_open(struct loop *loop, const char *path)
{
	struct kernel_log *k = calloc(1, sizeof(*k));
	int error;

	if (!k)
		return NULL;
	k->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	k->io = k->fd < 0 ? NULL : loop_add_io(loop, k->fd, EPOLLIN, on_readable, k);
	if (k->io)
		return k;
	error = errno;
	kernel_log_close(k);
	errno = error;
	return NULL;
}

void kernel_log_close(struct kernel_log *k)
{
	if (!k)
		return;
	loop_source_free(k->io);
	if (k->fd >= 0)
		close(k->fd);
	free(k);
}

void kernel_log_tell(const struct kernel_log *k, struct device_fact *f, uint64_t now_ns,
		     uint64_t now_wall_ns)
{
	if (!k || !k->io || !f->pci_address[0])
		return;
	f->firmware_watched = 1;
	if (f->firmware_stuck_since_wall_ns)
		return;
	for (size_t i = 0; i < ALARMS_MAX; i++) {
		const struct alarm *a = &k->alarms[i];

		if (strcmp(a->pci_address, f->pci_address) != 0 ||
		    now_ns > a->last_ns + KERNEL_LOG_STANDS_NS)
			continue;
		f->firmware_stuck_since_wall_ns =
			now_wall_ns - (now_ns > a->first_ns ? now_ns - a->first_ns : 0);
		name_copy(f->firmware_stuck_text, sizeof(f->firmware_stuck_text), a->text);
	}
}
