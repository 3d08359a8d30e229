#include "daemon/uevents.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <systemd/sd-device.h>

#include "core/names.h"
#include "probes/facts.h"

#define VERBS_CLASS "/sys/class/infiniband_verbs"
#define VERBS_MAX 256

struct verbs_name {
	char interface[FACT_NAME]; /* "uverbs0" */
	char device[FACT_NAME];	   /* "rxe0" */
};

struct uevents {
	sd_device_monitor *monitor;
	const struct uevents_callbacks *callbacks;
	void *arg;
	struct verbs_name verbs[VERBS_MAX];
	size_t n_verbs;
};

/* `ibdev` is answered by the kernel's uverbs core from memory. It is not an attribute of the
 * device, and reading it asks no driver. */
static bool read_ibdev(const char *interface, char *ret, size_t size)
{
	char path[128];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), VERBS_CLASS "/%s/ibdev", interface);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, ret, size - 1);
	close(fd);
	if (n <= 0)
		return false;
	ret[n] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	return name_valid(ret);
}

static void learn(struct uevents *u, const char *interface)
{
	struct verbs_name *v = &u->verbs[u->n_verbs];

	if (u->n_verbs == VERBS_MAX || interface[0] == '.' ||
	    !name_copy(v->interface, sizeof(v->interface), interface))
		return;
	if (read_ibdev(interface, v->device, sizeof(v->device)))
		u->n_verbs++;
}

void uevents_refresh(struct uevents *u)
{
	DIR *dir = opendir(VERBS_CLASS);
	struct dirent *entry;

	u->n_verbs = 0;
	while (dir && (entry = readdir(dir)))
		learn(u, entry->d_name);
	if (dir)
		closedir(dir);
}

/* The attribute is gone with the interface, hence the memory of it. */
static void tell_leaving(struct uevents *u, const char *interface)
{
	for (size_t i = 0; i < u->n_verbs; i++)
		if (strcmp(u->verbs[i].interface, interface) == 0)
			u->callbacks->leaving(u->arg, u->verbs[i].device);
}

static int on_event(sd_device_monitor *monitor, sd_device *device, void *arg)
{
	const char *subsystem, *name;
	struct uevents *u = arg;
	sd_device_action_t action;

	(void)monitor;
	if (sd_device_get_action(device, &action) < 0 ||
	    sd_device_get_subsystem(device, &subsystem) < 0 ||
	    sd_device_get_sysname(device, &name) < 0)
		return 0;
	if (action == SD_DEVICE_REMOVE && strcmp(subsystem, "infiniband_verbs") == 0)
		tell_leaving(u, name);
	u->callbacks->changed(u->arg);
	return 0;
}

static int monitor_start(struct uevents *u, struct loop *loop)
{
	int r = sd_device_monitor_new(&u->monitor);

	if (r >= 0)
		r = sd_device_monitor_filter_add_match_subsystem_devtype(u->monitor, "infiniband",
									 NULL);
	if (r >= 0)
		r = sd_device_monitor_filter_add_match_subsystem_devtype(u->monitor,
									 "infiniband_verbs", NULL);
	if (r >= 0)
		r = sd_device_monitor_attach_event(u->monitor, loop_sd_event(loop));
	if (r >= 0)
		r = sd_device_monitor_start(u->monitor, on_event, u);
	return r < 0 ? r : 0;
}

struct uevents *uevents_new(struct loop *loop, const struct uevents_callbacks *callbacks, void *arg)
{
	struct uevents *u = calloc(1, sizeof(*u));
	int r;

	if (!u)
		return NULL;
	u->callbacks = callbacks;
	u->arg = arg;
	r = monitor_start(u, loop);
	if (r == 0)
		return u;
	uevents_free(u);
	errno = -r;
	return NULL;
}

void uevents_free(struct uevents *u)
{
	if (!u)
		return;
	sd_device_monitor_unref(u->monitor);
	free(u);
}
