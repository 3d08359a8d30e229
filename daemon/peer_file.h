/* The peer file: JSON in the form of Prometheus' file_sd,
 *   [{"targets": ["10.99.0.2"], "labels": {"host": "host2", "rail": "rxe0", "rack": "r1",
 *     "pod": "p1"}}]
 * where a `:port` of a target and other labels mean nothing here. Whoever writes it, it is hostile
 * until checked: a bad entry costs itself, text that is no such list costs the file. */
#pragma once
#include "daemon/peer_list.h"

#define PEER_FILE_MAX (16u << 20) /* bytes: 16,384 endpoints with long labels need less */
#define PEER_FILE_WARNINGS 20	  /* entries that are told of one by one; the rest is counted */
#define PEER_FILE_ERROR 512	  /* room for a message with its NUL */

struct peer_file_report {
	/* What became of an entry, "entry 3, target 'x': why": it was refused, or merged. */
	void (*warn)(void *arg, const char *text);
	void *arg;
	size_t accepted; /* targets, merged ones included */
	size_t refused;	 /* targets, and entries without any */
};

/* The whole content, NUL-terminated, to be freed: its length; or -errno with a message. Never
 * waits for a pipe. */
ssize_t peer_file_read(const char *path, char **ret, char *err, size_t errlen);
/* Adds what text lists to list. template: [peers] address, may be "". 0, or -EINVAL with a message
 * that says what is wrong with the text as a whole; then list may hold a part of it. */
int peer_file_parse(struct peer_list *list, const char *text, size_t len, const char *template,
		    struct peer_file_report *report, char *err, size_t errlen);
