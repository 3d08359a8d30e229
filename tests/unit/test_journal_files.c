#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/journal_files.h"

#define SIZE 65536
#define PAGE 64

static const struct journal_head fresh = {"00000000000000aa", "boot"};
static char dir[64], err[JOURNAL_FILES_ERROR];
static struct journal_files *files;

static int set_up(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/journal-test-XXXXXX");
	files = NULL;
	return mkdtemp(dir) ? 0 : -1;
}

static const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	journal_files_close(files);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static int reopen(const char *id)
{
	struct journal_head head = fresh;

	snprintf(head.id, sizeof(head.id), "%s", id);
	journal_files_close(files);
	files = NULL;
	return journal_files_open(&files, dir, SIZE, &head, err, sizeof(err));
}

static int append(uint64_t seq)
{
	struct journal_event e = {.seq = seq, .wall_ns = seq * 1000, .kind = "rail"};

	snprintf(e.text, sizeof(e.text), "event %llu", (unsigned long long)seq);
	return journal_files_append(files, &e, err, sizeof(err));
}

static void append_all(uint64_t from, uint64_t to)
{
	for (uint64_t seq = from; seq <= to; seq++)
		assert_int_equal(append(seq), 0);
}

/* All numbers above after, which have to follow each other, to the last: the first. */
static uint64_t read_to(uint64_t after, uint64_t last)
{
	struct journal_event page[PAGE];
	uint64_t first = 0, at = after;
	size_t n;

	while ((n = journal_files_page(files, at, page, PAGE)) > 0)
		for (size_t i = 0; i < n; i++) {
			assert_true(!first || page[i].seq == at + 1);
			at = page[i].seq;
			first = first ? first : at;
			assert_int_equal(page[i].wall_ns, at * 1000);
		}
	assert_int_equal(at, last);
	return first;
}

static void put(const char *name, const char *text)
{
	FILE *f = fopen(path_of(name), "a");

	fputs(text, f);
	fclose(f);
}

static void test_numbers_and_numbering_go_on_over_a_restart(void **state)
{
	(void)state;
	assert_int_equal(reopen("00000000000000aa"), 0);
	assert_int_equal(journal_files_last(files), 0);
	assert_string_equal(journal_files_head(files)->id, "");
	append_all(1, 10);
	assert_int_equal(reopen("00000000000000bb"), 0);
	assert_string_equal(journal_files_id(files), "00000000000000aa");
	assert_string_equal(journal_files_head(files)->boot, "boot");
	assert_int_equal(journal_files_last(files), 10);
	append_all(11, 12);
	assert_int_equal(read_to(0, 12), 1);
	assert_int_equal(read_to(7, 12), 8);
	assert_int_equal(journal_files_first(files), 1);
}

static void test_the_oldest_quarter_goes_and_the_size_is_bounded(void **state)
{
	off_t total = 0;
	struct stat st;
	uint64_t first;

	(void)state;
	assert_int_equal(reopen("00000000000000aa"), 0);
	append_all(1, 3000);
	first = journal_files_first(files);
	assert_true(first > 1 && first < 2700);
	assert_int_equal(read_to(0, 3000), first);
	assert_int_equal(read_to(2900, 3000), 2901);
	for (unsigned i = 0; i < JOURNAL_FILES; i++) {
		char name[32] = "events.jsonl";

		if (i)
			snprintf(name, sizeof(name), "events.%u.jsonl", i);
		assert_int_equal(stat(path_of(name), &st), 0);
		total += st.st_size;
	}
	assert_int_not_equal(stat(path_of("events.4.jsonl"), &st), 0);
	assert_true(total < SIZE + JOURNAL_FILES * 512);
	assert_int_equal(reopen("00000000000000bb"), 0);
	assert_int_equal(journal_files_first(files), first);
	assert_int_equal(read_to(0, 3000), first);
}

static void test_a_torn_last_line_costs_itself(void **state)
{
	(void)state;
	assert_int_equal(reopen("00000000000000aa"), 0);
	append_all(1, 3);
	put("events.jsonl", "{\"seq\":4,\"time_ns\":4000,\"kind\":\"ra");
	assert_int_equal(reopen("00000000000000bb"), 0);
	/* Somebody may have seen 4. */
	assert_int_equal(journal_files_last(files), 4);
	assert_int_equal(read_to(0, 3), 1);
	append_all(5, 6);
	assert_int_equal(read_to(4, 6), 5);
	assert_int_equal(reopen("00000000000000cc"), 0);
	assert_string_equal(journal_files_id(files), "00000000000000aa");
	assert_int_equal(read_to(4, 6), 5);
}

static void test_lines_from_elsewhere_cost_themselves(void **state)
{
	(void)state;
	assert_int_equal(reopen("00000000000000aa"), 0);
	append_all(1, 2);
	put("events.jsonl", "\n\nhello\n{\"seq\":1,\"time_ns\":1000,\"kind\":\"\",\"device\":\"\","
			    "\"rail\":\"\",\"peer\":\"\",\"text\":\"again\"}\n"
			    "{\"seq\":9007199254740992,\"time_ns\":1}\n");
	for (unsigned i = 0; i < 20000; i++)
		put("events.jsonl", "garbage");
	put("events.jsonl", "\n");
	assert_int_equal(reopen("00000000000000bb"), 0);
	assert_int_equal(journal_files_last(files), 2);
	append_all(3, 4);
	assert_int_equal(read_to(0, 4), 1);
}

static void test_a_full_disk_is_told_and_what_it_tore_costs_itself(void **state)
{
	struct rlimit before, limit;
	struct stat st;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(reopen("00000000000000aa"), 0);
	append_all(1, 3);
	assert_int_equal(stat(path_of("events.jsonl"), &st), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = (rlim_t)st.st_size + 20;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_true(append(4) < 0);
	assert_non_null(strstr(err, "events.jsonl"));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(reopen("00000000000000aa"), 0);
	append_all(journal_files_last(files) + 1, 9);
	assert_int_equal(read_to(4, 9), 5);
}

static void test_another_process_that_has_them_is_told(void **state)
{
	struct journal_files *second;

	(void)state;
	assert_int_equal(reopen("00000000000000aa"), 0);
	assert_int_equal(journal_files_open(&second, dir, SIZE, &fresh, err, sizeof(err)),
			 -EWOULDBLOCK);
	assert_non_null(strstr(err, "another daemon"));
}

static void test_what_is_no_plain_file_is_not_touched(void **state)
{
	(void)state;
	assert_int_equal(mkdir(path_of("events.jsonl"), 0700), 0);
	assert_true(reopen("00000000000000aa") < 0);
	assert_non_null(strstr(err, "no plain file"));
	assert_int_equal(rmdir(path_of("events.jsonl")), 0);
	assert_int_equal(symlink("/etc/passwd", path_of("events.jsonl")), 0);
	assert_true(reopen("00000000000000aa") < 0);
	assert_non_null(strstr(err, "no plain file"));
	assert_int_equal(unlink(path_of("events.jsonl")), 0);
	assert_int_equal(mkfifo(path_of("events.jsonl"), 0600), 0);
	assert_true(reopen("00000000000000aa") < 0);
	assert_int_equal(unlink(path_of("events.jsonl")), 0);
	/* An older one that cannot be read is no reason to keep nothing. */
	assert_int_equal(mkfifo(path_of("events.2.jsonl"), 0600), 0);
	assert_int_equal(reopen("00000000000000aa"), 0);
}

static void test_a_missing_directory_is_named(void **state)
{
	char missing[128];

	(void)state;
	snprintf(missing, sizeof(missing), "%s/none", dir);
	assert_int_equal(journal_files_open(&files, missing, SIZE, &fresh, err, sizeof(err)),
			 -ENOENT);
	assert_non_null(strstr(err, missing));
}

static void test_a_removed_file_is_noticed(void **state)
{
	(void)state;
	assert_int_equal(reopen("00000000000000aa"), 0);
	append_all(1, 2);
	assert_int_equal(unlink(path_of("events.jsonl")), 0);
	assert_int_equal(append(3), -ENOENT);
	assert_int_equal(reopen("00000000000000aa"), 0);
	append_all(1, 3);
	assert_int_equal(read_to(0, 3), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_numbers_and_numbering_go_on_over_a_restart),
		TEST(test_the_oldest_quarter_goes_and_the_size_is_bounded),
		TEST(test_a_torn_last_line_costs_itself),
		TEST(test_lines_from_elsewhere_cost_themselves),
		TEST(test_a_full_disk_is_told_and_what_it_tore_costs_itself),
		TEST(test_another_process_that_has_them_is_told),
		TEST(test_what_is_no_plain_file_is_not_touched),
		TEST(test_a_missing_directory_is_named),
		TEST(test_a_removed_file_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
