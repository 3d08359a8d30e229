#include "support.h"

#include <string.h>

#include "daemon/journal_line.h"

static const struct journal_event example = {
	.seq = 7,
	.wall_ns = 1764460000123456789ULL,
	.kind = "verdict",
	.device = "rxe0",
	.rail = "rxe0/1",
	.peer = "host2",
	.text = "ok -> failing: \"a\\b\" \n \x7f \xc3\xa9",
};

static bool parse(const char *line, struct journal_event *ret)
{
	return journal_line_parse(line, strlen(line), ret);
}

static void test_an_event_comes_back_as_it_was(void **state)
{
	struct strbuf line = {0};
	struct journal_event e = {0};

	(void)state;
	journal_line_put(&line, &example);
	assert_int_equal(line.data[line.len - 1], '\n');
	assert_ptr_equal(memchr(line.data, '\n', line.len), line.data + line.len - 1);
	assert_true(journal_line_parse(line.data, line.len - 1, &e));
	assert_memory_equal(&e, &example, sizeof(e));
	assert_int_equal(journal_line_seq(line.data, line.len), 7);
	strbuf_free(&line);
}

static void test_the_longest_event_fits_a_line(void **state)
{
	struct journal_event e = {.seq = JOURNAL_SEQ_MAX, .wall_ns = UINT64_MAX / 2};
	struct strbuf line = {0};

	(void)state;
	memset(e.kind, 1, sizeof(e.kind) - 1);
	memset(e.device, 1, sizeof(e.device) - 1);
	memset(e.rail, 1, sizeof(e.rail) - 1);
	memset(e.peer, 1, sizeof(e.peer) - 1);
	memset(e.text, 1, sizeof(e.text) - 1);
	journal_line_put(&line, &e);
	assert_true(line.len < JOURNAL_LINE_MAX);
	strbuf_free(&line);
}

static void test_every_torn_line_is_no_event(void **state)
{
	struct strbuf line = {0};
	struct journal_event e;

	(void)state;
	journal_line_put(&line, &example);
	for (size_t len = 0; len < line.len - 1; len++)
		assert_false(journal_line_parse(line.data, len, &e));
	strbuf_free(&line);
}

static void test_lines_from_elsewhere_are_no_events(void **state)
{
	static const char *const lines[] = {
		"",
		"null",
		"[]",
		"{}",
		"{\"seq\":1}",
		"{\"seq\":0,\"time_ns\":1,\"kind\":\"\",\"device\":\"\",\"rail\":\"\",\"peer\":"
		"\"\","
		"\"text\":\"\"}",
		"{\"seq\":-1,\"time_ns\":1,\"kind\":\"\",\"device\":\"\",\"rail\":\"\",\"peer\":"
		"\"\",\"text\":\"\"}",
		"{\"seq\":1,\"time_ns\":1.5,\"kind\":\"\",\"device\":\"\",\"rail\":\"\",\"peer\":"
		"\"\",\"text\":\"\"}",
		"{\"seq\":1,\"time_ns\":1,\"kind\":3,\"device\":\"\",\"rail\":\"\",\"peer\":\"\","
		"\"text\":\"\"}",
		"{\"seq\":9007199254740993,\"time_ns\":1,\"kind\":\"\",\"device\":\"\",\"rail\":"
		"\"\",\"peer\":\"\",\"text\":\"\"}",
	};
	struct journal_event e;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_false(parse(lines[i], &e));
}

static void test_too_long_names_are_cut(void **state)
{
	struct journal_event e;
	char line[1024], name[200];

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	snprintf(line, sizeof(line),
		 "{\"seq\":1,\"time_ns\":1,\"kind\":\"%s\",\"device\":\"%s\",\"rail\":\"\","
		 "\"peer\":\"\",\"text\":\"\"}",
		 name, name);
	assert_true(parse(line, &e));
	assert_int_equal(strlen(e.kind), sizeof(e.kind) - 1);
	assert_int_equal(strlen(e.device), sizeof(e.device) - 1);
}

static void test_a_head_comes_back_and_nothing_else_is_one(void **state)
{
	const struct journal_head head = {"0123456789abcdef",
					  "3d1c9b58-1111-4000-8000-000000000000"};
	struct journal_head h = {0};
	struct strbuf line = {0};

	(void)state;
	journal_line_put_head(&line, &head, 1);
	assert_true(journal_line_parse_head(line.data, line.len - 1, &h));
	assert_string_equal(h.id, head.id);
	assert_string_equal(h.boot, head.boot);
	for (size_t len = 0; len < line.len - 1; len++)
		assert_false(journal_line_parse_head(line.data, len, &h));
	strbuf_reset(&line);
	strbuf_puts(&line, "{\"journal\":\"0123456789abcdef0\"}");
	assert_false(journal_line_parse_head(line.data, line.len, &h));
	strbuf_free(&line);
}

static void test_the_number_of_a_torn_line_is_known_when_it_is_whole(void **state)
{
	(void)state;
	assert_int_equal(journal_line_seq("{\"seq\":57,\"ti", 13), 57);
	assert_int_equal(journal_line_seq("{\"seq\":57", 9), 0);
	assert_int_equal(journal_line_seq("{\"seq\":", 7), 0);
	assert_int_equal(journal_line_seq("{\"seq\":99999999999999999999,", 28), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_event_comes_back_as_it_was),
		cmocka_unit_test(test_the_longest_event_fits_a_line),
		cmocka_unit_test(test_every_torn_line_is_no_event),
		cmocka_unit_test(test_lines_from_elsewhere_are_no_events),
		cmocka_unit_test(test_too_long_names_are_cut),
		cmocka_unit_test(test_a_head_comes_back_and_nothing_else_is_one),
		cmocka_unit_test(test_the_number_of_a_torn_line_is_known_when_it_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
