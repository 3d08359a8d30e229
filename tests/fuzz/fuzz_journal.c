/* The journal's files, which anybody may have damaged: lines alone, and a whole file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/journal_files.h"
#include "fuzz.h"

#define PAGE 16

static void check_event(const struct journal_event *e)
{
	must_hold(e->seq > 0 && e->seq <= JOURNAL_SEQ_MAX);
	must_hold(memchr(e->kind, '\0', sizeof(e->kind)));
	must_hold(memchr(e->text, '\0', sizeof(e->text)));
}

/* What was read and is written comes back as it was. */
static void check_line(const char *line, size_t len)
{
	struct journal_event e, again;
	struct journal_head head;
	struct strbuf out = {0};

	if (journal_line_parse_head(line, len, &head))
		must_hold(strlen(head.id) == JOURNAL_ID - 1);
	journal_line_seq(line, len);
	if (!journal_line_parse(line, len, &e))
		return;
	check_event(&e);
	journal_line_put(&out, &e);
	must_hold(out.len < JOURNAL_LINE_MAX && journal_line_seq(out.data, out.len) == e.seq);
	must_hold(journal_line_parse(out.data, out.len - 1, &again));
	must_hold(again.seq == e.seq && again.wall_ns == e.wall_ns);
	strbuf_free(&out);
}

static void put_file(const char *dir, const uint8_t *data, size_t size)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/events.jsonl", dir);
	f = fopen(path, "wb");
	must_hold(f && fwrite(data, 1, size, f) == size);
	fclose(f);
}

/* Whatever stands in it, a new event goes behind it and comes back, and numbers only rise. */
static void check_file(const char *dir)
{
	const struct journal_head fresh = {.id = "0123456789abcdef"};
	struct journal_event page[PAGE], e = {.kind = "rail", .text = "new"};
	struct journal_files *f;
	char err[JOURNAL_FILES_ERROR];
	uint64_t after = 0;
	size_t n;

	must_hold(journal_files_open(&f, dir, 1 << 20, &fresh, err, sizeof(err)) == 0);
	e.seq = journal_files_last(f) + 1;
	must_hold(journal_files_append(f, &e, err, sizeof(err)) == 0);
	while ((n = journal_files_page(f, after, page, PAGE)) > 0)
		for (size_t i = 0; i < n; i++) {
			must_hold(page[i].seq > after);
			after = page[i].seq;
			check_event(&page[i]);
		}
	must_hold(after == e.seq || e.seq > JOURNAL_SEQ_MAX);
	journal_files_close(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char dir[] = "/tmp/fuzz-journal-XXXXXX";
	static bool made;
	char path[64];

	if (!made)
		must_hold(mkdtemp(dir));
	made = true;
	check_line((const char *)data, size);
	put_file(dir, data, size);
	check_file(dir);
	snprintf(path, sizeof(path), "%s/events.jsonl", dir);
	unlink(path);
	rmdir(dir);
	must_hold(mkdir(dir, 0700) == 0);
	return 0;
}
