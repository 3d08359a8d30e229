#include "probes/port_fact.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/names.h"
#include "probes/counter.h"
#include "probes/sysfs.h"
#include "probes/sysfs_value.h"

static bool set_state(struct port_fact *f, const char *text)
{
	f->state_text[0] = '\0';
	f->state_known = text && sysfs_state(text, &f->state, f->state_text, sizeof(f->state_text));
	return f->state_known;
}

static bool set_phys_state(struct port_fact *f, const char *text)
{
	f->phys_state_text[0] = '\0';
	f->phys_state_known = text && sysfs_state(text, &f->phys_state, f->phys_state_text,
						  sizeof(f->phys_state_text));
	return f->phys_state_known;
}

static bool set_rate(struct port_fact *f, const char *text)
{
	f->rate_text[0] = '\0';
	f->rate_known = text && sysfs_rate(text, &f->rate_bytes_per_second);
	if (text)
		sysfs_first_line(text, f->rate_text, sizeof(f->rate_text));
	return f->rate_known;
}

static bool set_link_layer(struct port_fact *f, const char *text)
{
	sysfs_first_line(text ? text : "", f->link_layer_text, sizeof(f->link_layer_text));
	f->link_layer = (uint8_t)sysfs_link_layer(f->link_layer_text);
	return text != NULL;
}

/* Each setter takes NULL for "not known" and says whether it understood the text. */
static const struct {
	const char *file;
	bool (*set)(struct port_fact *f, const char *text);
} attrs[PORT_ATTR_COUNT] = {
	[PORT_ATTR_STATE] = {"state", set_state},
	[PORT_ATTR_PHYS_STATE] = {"phys_state", set_phys_state},
	[PORT_ATTR_RATE] = {"rate", set_rate},
	[PORT_ATTR_LINK_LAYER] = {"link_layer", set_link_layer},
};

static bool attr_failed(struct port_reader *r, unsigned attr, enum read_error error,
			uint64_t *errors)
{
	r->skip[attr] = COUNTER_RETRY_ROUNDS - 1;
	errors[error]++;
	return false;
}

static bool attr_read(struct port_reader *r, unsigned attr, int dev_fd, uint64_t *errors)
{
	char path[SYSFS_PATH], text[SYSFS_TEXT];
	int n;

	if (r->skip[attr] > 0) {
		r->skip[attr]--;
		return false;
	}
	snprintf(path, sizeof(path), "ports/%u/%s", r->fact.port, attrs[attr].file);
	n = sysfs_read(dev_fd, path, text, sizeof(text));
	if (n < 0) {
		attrs[attr].set(&r->fact, NULL);
		return n == -ENOENT ? false : attr_failed(r, attr, sysfs_error_class(n), errors);
	}
	if (!attrs[attr].set(&r->fact, text))
		return attr_failed(r, attr, READ_PARSE, errors);
	return true;
}

bool port_reader_run(struct port_reader *r, int dev_fd, uint64_t *errors)
{
	bool any = false;

	for (unsigned attr = 0; attr < PORT_ATTR_COUNT; attr++)
		any |= attr_read(r, attr, dev_fd, errors);
	return any;
}

void port_reader_retry(struct port_reader *r)
{
	memset(r->skip, 0, sizeof(r->skip));
}
