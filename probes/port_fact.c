#include "probes/port_fact.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/names.h"
#include "probes/counter.h"
#include "probes/read_failures.h"
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

static void attr_failed(struct port_reader *r, unsigned attr, enum read_error error,
			struct read_failures *failures)
{
	if (!r->failing[attr])
		read_failures_note(failures, r->fact.port, COUNTER_SOURCE_COUNT, attrs[attr].file,
				   error);
	r->failing[attr] = true;
	r->skip[attr] = COUNTER_RETRY_ROUNDS - 1;
}

/* 0; -ENOENT: it is not there; else why it could not be read or understood. */
static int attr_read(struct port_reader *r, unsigned attr, int dev_fd, enum read_error *ret_error)
{
	char path[SYSFS_PATH], text[SYSFS_TEXT];
	int n;

	snprintf(path, sizeof(path), "ports/%u/%s", r->fact.port, attrs[attr].file);
	n = sysfs_read(dev_fd, path, text, sizeof(text));
	if (n < 0) {
		attrs[attr].set(&r->fact, NULL);
		*ret_error = sysfs_error_class(n);
		return n;
	}
	*ret_error = READ_PARSE;
	return attrs[attr].set(&r->fact, text) ? 0 : -EBADMSG;
}

bool port_reader_run(struct port_reader *r, int dev_fd, uint64_t *errors,
		     struct read_failures *failures)
{
	bool any = false;

	for (unsigned attr = 0; attr < PORT_ATTR_COUNT; attr++) {
		enum read_error error;
		int result;

		if (r->skip[attr] > 0) {
			r->skip[attr]--;
			continue;
		}
		result = attr_read(r, attr, dev_fd, &error);
		if (result == 0) {
			r->failing[attr] = false;
			any = true;
		} else if (result != -ENOENT) {
			errors[error]++;
			attr_failed(r, attr, error, failures);
		}
	}
	return any;
}

void port_reader_retry(struct port_reader *r)
{
	memset(r->skip, 0, sizeof(r->skip));
}
