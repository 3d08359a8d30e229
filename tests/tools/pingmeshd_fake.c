/* The real daemon with a stand-in for its workers:
 *   pingmeshd_fake WORKER_PROGRAM probe|count [options of rdma-pingmeshd]
 * probe: a tree given by --sysfs-root shows devices that can be probed; count: as in earnest.
 * The name servers of its world are the file $FAKE_HOSTS, read again for each question: lines
 *   NAME ADDRESS     several for several addresses
 *   NAME hang | die  what becomes of the helper that asks */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "daemon/file_helper.h"
#include "daemon/journal_helper.h"
#include "daemon/resolver_helper.h"

struct one {
	struct addrinfo info; /* first: it is what is freed */
	struct sockaddr_storage address;
};

static struct addrinfo *make(const char *text)
{
	struct one *one = calloc(1, sizeof(*one));
	struct sockaddr_in *v4 = (struct sockaddr_in *)&one->address;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&one->address;

	one->info.ai_addr = (struct sockaddr *)&one->address;
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		one->info.ai_family = v4->sin_family = AF_INET;
		one->info.ai_addrlen = sizeof(*v4);
	} else if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
		one->info.ai_family = v6->sin6_family = AF_INET6;
		one->info.ai_addrlen = sizeof(*v6);
	}
	return &one->info;
}

static void misbehave(const char *word)
{
	if (strcmp(word, "die") == 0)
		_exit(7);
	while (strcmp(word, "hang") == 0)
		pause();
}

/* Instead of libc's, here and in the helper process. */
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
		struct addrinfo **ret)
{
	const char *path = getenv("FAKE_HOSTS");
	FILE *hosts = path ? fopen(path, "r") : NULL;
	char known[256], word[64];
	struct addrinfo **end = ret;

	(void)service;
	(void)hints;
	*ret = NULL;
	while (hosts && fscanf(hosts, "%255s %63s", known, word) == 2) {
		if (strcmp(known, name) != 0)
			continue;
		misbehave(word);
		*end = make(word);
		end = &(*end)->ai_next;
	}
	if (hosts)
		fclose(hosts);
	return *ret ? 0 : EAI_NONAME;
}

void freeaddrinfo(struct addrinfo *list)
{
	while (list) {
		struct addrinfo *next = list->ai_next;

		free(list);
		list = next;
	}
}

int main(int argc, char **argv)
{
	struct options options;
	char err[256];

	if (argc == 3 && strcmp(argv[1], "--resolver") == 0)
		return resolver_helper_main(atoi(argv[2]));
	if (argc == 3 && strcmp(argv[1], "--file-helper") == 0)
		return file_helper_main(atoi(argv[2]));
	if (argc == 3 && strcmp(argv[1], "--journal-helper") == 0)
		return journal_helper_main(atoi(argv[2]));
	if (argc < 3)
		return OPTIONS_USAGE;
	if (options_parse(&options, argc - 2, argv + 2, err, sizeof(err)) < 0) {
		fprintf(stderr, "%s\n", err);
		return OPTIONS_USAGE;
	}
	if (strcmp(argv[2], "probe") == 0)
		options.sysfs_only = false;
	return daemon_run(&options, argv[1]);
}
