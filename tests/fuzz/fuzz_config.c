/* A configuration file. What is taken prints as a file that is taken too, and prints the same. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/config.h"
#include "fuzz.h"

static void on_remark(void *arg, enum conf_severity severity, const char *file, unsigned line,
		      const char *message)
{
	(void)arg;
	(void)severity;
	(void)line;
	must_hold(file && message && message[0]);
}

/* Through a file, as in life: conf.d beside it does not exist. */
static int load(struct config *c, const void *text, size_t len)
{
	struct conf_report report = {.fn = on_remark};
	int fd = memfd_create("fuzz", 0), r;
	char path[64];

	must_hold(fd >= 0 && write(fd, text, len) == (ssize_t)len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = config_load(c, path, NULL, 0, &report);
	close(fd);
	must_hold((r == 0) == (report.errors == 0));
	return r;
}

static void print_and_load_again(const struct config *c)
{
	struct strbuf first = {0}, second = {0};
	static struct config again;

	config_print(c, &first);
	must_hold(!strbuf_failed(&first));
	must_hold(load(&again, first.data, first.len) == 0);
	config_print(&again, &second);
	must_hold(!strcmp(first.data, second.data));
	config_free(&again);
	strbuf_free(&first);
	strbuf_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct config c;

	if (load(&c, data, size) < 0)
		return 0;
	print_and_load_again(&c);
	config_free(&c);
	return 0;
}
