#include "support.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/peer_file.h"

struct fixture {
	struct peer_list list;
	struct peer_file_report report;
	char warnings[8192];
	char err[PEER_FILE_ERROR];
	const char *template;
};

static void note(void *arg, const char *text)
{
	struct fixture *f = arg;
	size_t len = strlen(f->warnings);

	snprintf(f->warnings + len, sizeof(f->warnings) - len, "%s\n", text);
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->report = (struct peer_file_report){.warn = note, .arg = f};
	f->template = "";
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	peer_list_free(&f->list);
	free(f);
	return 0;
}

static int parse(struct fixture *f, const char *text)
{
	return peer_file_parse(&f->list, text, strlen(text), f->template, &f->report, f->err,
			       sizeof(f->err));
}

static void accepts(struct fixture *f, const char *text, size_t n)
{
	assert_int_equal(parse(f, text), 0);
	assert_string_equal(f->warnings, "");
	assert_int_equal(f->report.accepted, n);
	assert_int_equal(f->report.refused, 0);
}

static void refuses_target(const char *text, const char *warning)
{
	void *state;
	struct fixture *f;

	set_up(&state);
	f = state;
	assert_int_equal(parse(f, text), 0);
	if (!strstr(f->warnings, warning))
		fail_msg("%s\nnot in\n%s", warning, f->warnings);
	assert_int_equal(f->report.refused, 1);
	tear_down(&state);
}

static void refuses_file(const char *text, const char *error)
{
	void *state;
	struct fixture *f;

	set_up(&state);
	f = state;
	assert_int_equal(parse(f, text), -EINVAL);
	if (!strstr(f->err, error))
		fail_msg("%s\nnot in\n%s", error, f->err);
	tear_down(&state);
}

static void check(const struct fixture *f, size_t i, const char *host, const char *rail,
		  const char *where)
{
	char text[PEER_LOOKUP_MAX];

	assert_true(i < f->list.n);
	peer_entry_place(&f->list.entries[i], text, sizeof(text));
	assert_string_equal(f->list.entries[i].host, host);
	assert_string_equal(f->list.entries[i].rail, rail);
	assert_string_equal(text, where);
}

static void test_labels_name_host_rail_rack_and_pod(void **state)
{
	struct fixture *f = *state;

	accepts(f,
		"[{\"targets\": [\"10.99.0.2\"], \"labels\": {\"host\": \"host2\", \"rail\": "
		"\"rxe0\", \"rack\": \"r1\", \"pod\": \"p1\", \"env\": \"prod\", \"n\": 3}}]",
		1);
	check(f, 0, "host2", "rxe0", "10.99.0.2");
	assert_string_equal(f->list.entries[0].rack, "r1");
	assert_string_equal(f->list.entries[0].pod, "p1");
	assert_null(f->list.entries[0].lookup);
}

static void test_a_port_is_ignored_and_without_label_the_address_is_the_host(void **state)
{
	struct fixture *f = *state;

	accepts(f,
		"[{\"targets\": [\"10.0.0.1:9100\", \"[FD00:0::2]:9100\", \"[fd00::3]\", "
		"\"fd00::4\", \"10.0.0.5\", \"node6:9100\", \"node7\"]}]",
		7);
	check(f, 0, "10.0.0.1", "", "10.0.0.1");
	check(f, 1, "fd00::2", "", "fd00::2");
	check(f, 2, "fd00::3", "", "fd00::3");
	check(f, 3, "fd00::4", "", "fd00::4");
	check(f, 4, "10.0.0.5", "", "10.0.0.5");
	check(f, 5, "node6", "", "node6");
	check(f, 6, "node7", "", "node7");
	assert_non_null(f->list.entries[5].lookup);
}

static void test_template_makes_the_name_of_a_target_that_is_its_host(void **state)
{
	struct fixture *f = *state;

	f->template = "{host}-{rail}.example";
	accepts(f,
		"[{\"targets\": [\"node1\"], \"labels\": {\"rail\": \"ib0\"}},"
		" {\"targets\": [\"node2.fabric\"], \"labels\": {\"host\": \"node2\", \"rail\": "
		"\"ib0\"}}]",
		2);
	check(f, 0, "node1", "ib0", "node1-ib0.example");
	check(f, 1, "node2", "ib0", "node2.fabric");
}

static void test_a_bad_target_costs_itself_and_is_named(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(parse(f, "[{\"targets\": [\"10.0.0.1\", \"fe80::2\", \"10.0.0.3\"]}]"), 0);
	assert_int_equal(f->report.accepted, 2);
	assert_int_equal(f->report.refused, 1);
	assert_int_equal(f->list.n, 2);
	assert_string_equal(f->warnings, "entry 1, target 'fe80::2': 'fe80::2' is link-local: add "
					 "its interface, as fe80::1%eth0\n");
}

static void test_every_bad_target_says_what_to_do(void **state)
{
	(void)state;
	refuses_target("[{\"targets\": [7]}]", "entry 1: a target that is no string");
	refuses_target("[{\"targets\": [\"http://a/\"]}]", "is no address with or without a port");
	refuses_target("[{\"targets\": [\"10.0.0.1:port\"]}]", "10.99.0.2:9100");
	refuses_target("[{\"targets\": [\"10.0.0.1:\"]}]", "10.99.0.2:9100");
	refuses_target("[{\"targets\": [\"[10.0.0.1]:1\"]}]", "10.99.0.2:9100");
	refuses_target("[{\"targets\": [\"[fd00::1\"]}]", "10.99.0.2:9100");
	refuses_target("[{\"targets\": [\"\"]}]", "is no address or host name");
	refuses_target("[{\"targets\": [\"a b\"]}]", "is no address or host name");
	refuses_target("[{\"targets\": [\"a b\"], \"labels\": {\"host\": \"h\"}}]",
		       "is no host name that can be looked up");
	refuses_target("[{\"targets\": [\"224.0.0.1\"]}]", "multicast");
	refuses_target("[{\"targets\": [\"0.0.0.0\"]}]", "is no address of a single host");
	refuses_target("[{\"targets\": [\"x\\ny\"]}]", "target 'x?y'");
}

static void test_every_bad_entry_says_what_to_do(void **state)
{
	(void)state;
	refuses_target("[3]", "entry 1: is no object with a list of targets");
	refuses_target("[{\"targets\": \"10.0.0.1\"}]", "is no object with a list of targets");
	refuses_target("[{\"targets\": [\"10.0.0.1\"], \"labels\": []}]", "no object of strings");
	refuses_target("[{\"targets\": [\"10.0.0.1\"], \"labels\": {\"host\": 3}}]",
		       "its label host is no name: at most 63");
	refuses_target("[{\"targets\": [\"10.0.0.1\"], \"labels\": {\"rail\": \"a b\"}}]",
		       "its label rail is no name");
	refuses_target("[{\"targets\": [\"10.0.0.1\"], \"labels\": {\"rack\": \"r\\\"1\"}}]",
		       "its label rack is no name");
	refuses_target("[{\"targets\": [\"10.0.0.1\", \"10.0.0.2\"], \"labels\": {\"host\": "
		       "\"h\"}}]",
		       "target '10.0.0.2': h already has the address 10.0.0.1");
	refuses_target("[{\"targets\": [\"10.0.0.1\"], \"labels\": {\"host\": \"h\"}}, {\"targets\""
		       ": [\"10.0.0.1\"], \"labels\": {\"host\": \"g\"}}]",
		       "entry 2, target '10.0.0.1': g has the address 10.0.0.1, which is already");
}

static void test_all_targets_of_a_bad_entry_count(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(parse(f, "[{\"targets\": [\"10.0.0.1\", \"10.0.0.2\", \"10.0.0.3\"], "
				  "\"labels\": {\"host\": 1}}]"),
			 0);
	assert_int_equal(f->report.refused, 3);
}

static void test_text_that_is_no_list_costs_the_file(void **state)
{
	char deep[5000];

	(void)state;
	refuses_file("", "line 1: is no JSON");
	refuses_file("[{\"targets\": [\"10.0.0.1\"]},\n{\"tar", "line 2: is no JSON");
	refuses_file("{\"targets\": [\"10.0.0.1\"]}", "is no list: write [{");
	refuses_file("- targets: ['10.0.0.1']", "is no JSON");
	refuses_file("[{\"targets\": [], \"targets\": []}]", "duplicate");
	refuses_file("[\"\xff\"]", "is no JSON");
	refuses_file("[] []", "is no JSON");
	memset(deep, '[', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	refuses_file(deep, "is no JSON");
}

static void test_an_empty_list_is_a_list(void **state)
{
	accepts(*state, "[]", 0);
}

static void test_a_target_listed_twice_is_merged_and_takes_labels_of_both(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(parse(f, "[{\"targets\": [\"10.0.0.1\"]}, {\"targets\": [\"10.0.0.1\"], "
				  "\"labels\": {\"host\": \"h\", \"rack\": \"r1\"}}]"),
			 0);
	assert_int_equal(f->report.accepted, 2);
	assert_int_equal(f->report.refused, 0);
	assert_int_equal(f->list.n, 1);
	check(f, 0, "h", "", "10.0.0.1");
	assert_string_equal(f->list.entries[0].rack, "r1");
	assert_non_null(strstr(f->warnings, "listed twice"));
}

static void test_of_many_bad_targets_only_some_are_told(void **state)
{
	struct fixture *f = *state;
	char text[4096] = "[{\"targets\": [\"\"";
	unsigned lines = 0;

	for (int i = 0; i < 99; i++)
		strcat(text, ", \"\"");
	strcat(text, "]}]");
	assert_int_equal(parse(f, text), 0);
	assert_int_equal(f->report.refused, 100);
	for (const char *c = f->warnings; *c; c++)
		lines += *c == '\n';
	assert_int_equal(lines, PEER_FILE_WARNINGS);
}

static void test_eight_thousand_targets_load_in_a_moment(void **state)
{
	struct fixture *f = *state;
	char *text = malloc(8000 * 128), *at = text;

	*at++ = '[';
	for (unsigned i = 0; i < 8000; i++)
		at += sprintf(at,
			      "%s{\"targets\":[\"10.%u.%u.%u\"],\"labels\":{\"host\":\"host%u\","
			      "\"rail\":\"rail%u\"}}",
			      i ? "," : "", i % 8, i / 8 / 250, i / 8 % 250 + 1, i / 8, i % 8);
	strcpy(at, "]");
	accepts(f, text, 8000);
	check(f, 7999, "host999", "rail7", "10.7.3.250");
	free(text);
}

static void test_what_is_no_regular_file_is_refused_without_waiting(void **state)
{
	struct fixture *f = *state;
	char dir[] = "/tmp/test_peer_file.XXXXXX", path[64], *text;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/fifo", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(peer_file_read(path, &text, f->err, sizeof(f->err)), -EINVAL);
	assert_string_equal(f->err, "is no regular file");
	unlink(path);
	assert_int_equal(peer_file_read(path, &text, f->err, sizeof(f->err)), -ENOENT);
	assert_string_equal(f->err, "cannot be read: No such file or directory");
	assert_int_equal(peer_file_read(dir, &text, f->err, sizeof(f->err)), -EINVAL);
	rmdir(dir);
}

static void test_a_file_beyond_the_limit_is_refused_unread(void **state)
{
	struct fixture *f = *state;
	char path[] = "/tmp/test_peer_file.XXXXXX", *text;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)PEER_FILE_MAX + 1), 0);
	assert_int_equal(peer_file_read(path, &text, f->err, sizeof(f->err)), -EFBIG);
	assert_int_equal(ftruncate(fd, 3), 0);
	assert_int_equal(peer_file_read(path, &text, f->err, sizeof(f->err)), 3);
	free(text);
	close(fd);
	unlink(path);
}

static void test_the_example_loads_as_it_is(void **state)
{
	struct fixture *f = *state;
	char *text;

	assert_true(peer_file_read(EXAMPLE, &text, f->err, sizeof(f->err)) > 0);
	accepts(f, text, 4);
	check(f, 3, "host2", "rxe1", "10.99.1.2");
	free(text);
}

#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FILE_TEST(test_labels_name_host_rail_rack_and_pod),
		FILE_TEST(test_a_port_is_ignored_and_without_label_the_address_is_the_host),
		FILE_TEST(test_template_makes_the_name_of_a_target_that_is_its_host),
		FILE_TEST(test_a_bad_target_costs_itself_and_is_named),
		FILE_TEST(test_every_bad_target_says_what_to_do),
		FILE_TEST(test_every_bad_entry_says_what_to_do),
		FILE_TEST(test_all_targets_of_a_bad_entry_count),
		FILE_TEST(test_text_that_is_no_list_costs_the_file),
		FILE_TEST(test_an_empty_list_is_a_list),
		FILE_TEST(test_a_target_listed_twice_is_merged_and_takes_labels_of_both),
		FILE_TEST(test_of_many_bad_targets_only_some_are_told),
		FILE_TEST(test_eight_thousand_targets_load_in_a_moment),
		FILE_TEST(test_what_is_no_regular_file_is_refused_without_waiting),
		FILE_TEST(test_the_example_loads_as_it_is),
		FILE_TEST(test_a_file_beyond_the_limit_is_refused_unread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
