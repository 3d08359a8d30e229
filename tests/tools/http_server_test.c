/* Serves a made-up host with the real HTTP server on 127.0.0.1, until its stdin ends.
 *
 *	http_server_test MODES [options of synthetic_args.h]
 *
 * MODES is a list of words, or "-": stale (the snapshot is 10 s old), starting (there is none, not
 * ready), reload (POST is allowed), reload_fails. Prints the port once it listens. Reload adds an
 * event; a new snapshot is made every second. Lines on stdin change who may come, each answered by
 *a line, "ok" or what is wrong:
 *
 *	protect CERT KEY CLIENT_CA USERS loopback|all		files, or "-" for none */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/loop.h"
#include "exporters/http.h"
#include "exporters/tls.h"
#include "exporters/users.h"
#include "health/journal.h"
#include "tests/tools/synthetic_args.h"

#define EVENTS 20

struct host {
	struct loop *loop;
	struct synthetic_args args;
	struct snapshot *snapshot;
	struct journal *journal;
	struct loop_source *tick;
	bool stale, starting, reload_fails;
	struct http_server *server;
	char line[4096];
	size_t line_len;
};

static void make_snapshot(struct host *h, uint64_t now_ns)
{
	snapshot_unref(h->snapshot);
	h->snapshot =
		synthetic_snapshot(&h->args.wanted, h->stale ? now_ns - 10 * NSEC_PER_SEC : now_ns);
}

static void on_tick(void *arg, uint64_t now_ns)
{
	struct host *h = arg;

	make_snapshot(h, now_ns);
	/* From its end: with sanitizers it may take longer than that. */
	loop_timer_arm(h->tick, clock_now_ns() + NSEC_PER_SEC);
}

static struct snapshot *get_snapshot(void *arg)
{
	struct host *h = arg;

	return h->starting || !h->snapshot ? NULL : snapshot_ref(h->snapshot);
}

static const struct journal *get_journal(void *arg)
{
	return ((struct host *)arg)->journal;
}

static bool is_ready(void *arg)
{
	return !((struct host *)arg)->starting;
}

static int reload(void *arg, char *err, size_t errlen)
{
	struct host *h = arg;

	if (h->reload_fails) {
		snprintf(err, errlen, "test.conf:3: 'fast' is not a duration");
		return -22;
	}
	journal_add(h->journal, clock_wall_ns(), "reload", NULL, NULL, NULL,
		    "configuration loaded");
	return 0;
}

static char *read_file(const char *path, size_t *ret_len)
{
	static const size_t max = 1 << 16;
	FILE *f = fopen(path, "re");
	char *text = calloc(1, max);

	*ret_len = f && text ? fread(text, 1, max, f) : 0;
	if (f)
		fclose(f);
	return text;
}

static void protect(struct host *h, char *const word[5])
{
	struct tls_text text[4];
	char err[256] = "ok", *content[4];
	struct http_protection p = {.plain_loopback = strcmp(word[4], "loopback") == 0};
	int r;

	for (int i = 0; i < 4; i++) {
		content[i] = read_file(word[i], &text[i].len);
		text[i].name = word[i];
		text[i].text = content[i];
	}
	if (strcmp(word[0], "-") != 0)
		p.tls = tls_new(&text[0], &text[1], strcmp(word[2], "-") ? &text[2] : NULL, err,
				sizeof(err));
	if (strcmp(word[3], "-") != 0)
		p.users = users_parse(word[3], content[3], text[3].len, err, sizeof(err));
	if (strcmp(err, "ok") == 0 && (r = http_server_protect(h->server, &p)) < 0)
		snprintf(err, sizeof(err), "%s", strerror(-r));
	tls_unref(p.tls);
	users_unref(p.users);
	for (int i = 0; i < 4; i++)
		free(content[i]);
	printf("%s\n", err);
	fflush(stdout);
}

static void on_line(struct host *h)
{
	char *word[6], *save, *w = strtok_r(h->line, " ", &save);
	int n = 0;

	for (; w && n < 6; w = strtok_r(NULL, " ", &save))
		word[n++] = w;
	if (n == 6 && strcmp(word[0], "protect") == 0)
		protect(h, word + 1);
	else
		printf("what?\n");
}

static void on_byte(struct host *h, char byte)
{
	if (byte != '\n' && h->line_len < sizeof(h->line) - 1) {
		h->line[h->line_len++] = byte;
		return;
	}
	h->line[h->line_len] = '\0';
	h->line_len = 0;
	on_line(h);
}

static void on_stdin(void *arg, int fd, uint32_t events)
{
	struct host *h = arg;
	char piece[1024];
	ssize_t n = read(fd, piece, sizeof(piece));

	(void)events;
	if (n <= 0)
		loop_exit(h->loop, 0);
	for (ssize_t i = 0; i < n; i++)
		on_byte(h, piece[i]);
}

static void fill_journal(struct host *h)
{
	h->journal = journal_new();
	for (unsigned i = 0; i < EVENTS; i++)
		journal_add(h->journal, clock_wall_ns(), "session", "mlx5_0", "mlx5_0", "host003",
			    "session went to %s", session_state_name(i % SESSION_STATE_COUNT));
}

static struct http_server *serve(struct host *h, bool allow_reload)
{
	struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct http_source source = {get_snapshot, get_journal, is_ready, reload, allow_reload, h};
	struct http_server *server = http_server_new(h->loop, &source);
	char err[256];

	if (!server)
		return NULL;
	if (http_server_listen(server, (struct sockaddr *)&addr, sizeof(addr), err, sizeof(err)) !=
	    0) {
		fprintf(stderr, "%s\n", err);
		http_server_free(server);
		return NULL;
	}
	printf("%u\n", http_server_port(server, 0));
	fflush(stdout);
	return server;
}

int main(int argc, char **argv)
{
	struct host h = {.loop = loop_new()};
	struct loop_source *input;
	const char *modes = argc > 1 ? argv[1] : "-";

	if (argc < 2 || !h.loop)
		return 64;
	signal(SIGPIPE, SIG_IGN);
	h.stale = strstr(modes, "stale");
	h.starting = strstr(modes, "starting");
	h.reload_fails = strstr(modes, "reload_fails");
	synthetic_args_parse(argc - 1, argv + 1, &h.args);
	fill_journal(&h);
	h.tick = loop_add_timer(h.loop, on_tick, &h);
	on_tick(&h, clock_now_ns());
	input = loop_add_io(h.loop, STDIN_FILENO, EPOLLIN, on_stdin, &h);
	h.server = serve(&h, strstr(modes, "reload"));
	if (h.server)
		loop_run(h.loop);
	http_server_free(h.server);
	loop_source_free(input);
	loop_source_free(h.tick);
	snapshot_unref(h.snapshot);
	journal_free(h.journal);
	loop_free(h.loop);
	return h.server ? EXIT_SUCCESS : EXIT_FAILURE;
}
