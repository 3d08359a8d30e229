/* The peer file: JSON that somebody's tool writes. */
#include <stdlib.h>
#include <string.h>

#include "daemon/peer_file.h"
#include "fuzz.h"

static void warn(void *arg, const char *text)
{
	(void)arg;
	must_hold(strlen(text) < 4096);
}

static void check(const struct peer_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct peer_entry *e = &l->entries[i];

		must_hold(e->host[0] && memchr(e->host, '\0', sizeof(e->host)));
		must_hold(memchr(e->rail, '\0', sizeof(e->rail)));
		must_hold(memchr(e->rack, '\0', sizeof(e->rack)));
		must_hold(memchr(e->pod, '\0', sizeof(e->pod)));
		must_hold(!e->lookup != (e->address.sa.sa_family == AF_UNSPEC));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct peer_file_report report = {.warn = warn};
	struct peer_list list = {0};
	char err[PEER_FILE_ERROR];
	char *text = malloc(size + 1);
	int r;

	memcpy(text, data, size);
	text[size] = '\0';
	r = peer_file_parse(&list, text, size, size & 1 ? "{host}-{rail}.example" : "", &report,
			    err, sizeof(err));
	must_hold(r == 0 || memchr(err, '\0', sizeof(err)));
	check(&list);
	peer_list_free(&list);
	free(text);
	return 0;
}
