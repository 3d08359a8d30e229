#include "support.h"

#include <errno.h>

#include "exporters/params.h"

static char err[256];

static int parse(const char *name, const char *value, unsigned allowed, struct list_params *ret)
{
	struct http_request req = {.param = {{name, value}}, .n_params = 1};

	return params_parse(&req, allowed, ret, err, sizeof(err));
}

static void test_filters_are_understood(void **state)
{
	struct http_request req = {
		.param = {{"peer", "host2"},
			  {"rail", "mlx5_0/2"},
			  {"verdict", "failing"},
			  {"limit", "50"}},
		.n_params = 4,
	};
	struct list_params p;

	(void)state;
	assert_int_equal(params_parse(&req, PARAMS_PEERS, &p, err, sizeof(err)), 0);
	assert_string_equal(p.peer, "host2");
	assert_string_equal(p.rail, "mlx5_0/2");
	assert_true(p.has_verdict);
	assert_int_equal(p.verdict, VERDICT_FAILING);
	assert_int_equal(p.limit, 50);
	assert_false(p.has_cursor);
}

static void test_a_bad_value_is_refused_by_name(void **state)
{
	static const char *const bad[][2] = {
		{"peer", ""},	       {"peer", "a b"},
		{"peer", "a/b"},       {"rail", "a/b/c"},
		{"verdict", "OK"},     {"verdict", "fine"},
		{"limit", "0"},	       {"limit", "-1"},
		{"limit", "1e3"},      {"limit", " 1"},
		{"limit", "99999999"}, {"limit", ""},
		{"since", "x"},	       {"since", "18446744073709551616"},
		{"cursor", "zz"},      {"cursor", "6"},
		{"cursor", ""},	       {"cursor", "00"},
		{"fail_on", "ok"},
	};
	struct list_params p;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(parse(bad[i][0], bad[i][1], ~0u, &p), -EINVAL);
		assert_non_null(strstr(err, bad[i][0]));
	}
}

static void test_a_parameter_that_is_unknown_here_is_refused_by_name(void **state)
{
	struct list_params p;

	(void)state;
	assert_int_equal(parse("pear", "x", PARAMS_PEERS, &p), -EINVAL);
	assert_non_null(strstr(err, "pear"));
	assert_int_equal(parse("since", "1", PARAMS_PEERS, &p), -EINVAL);
	assert_int_equal(parse("a\nb\x80\"", "1", PARAMS_PEERS, &p), -EINVAL);
	assert_non_null(strstr(err, "a?b?\""));
}

static void test_a_parameter_given_twice_is_refused(void **state)
{
	struct http_request req = {.param = {{"limit", "1"}, {"limit", "2"}}, .n_params = 2};
	struct list_params p;

	(void)state;
	assert_int_equal(params_parse(&req, PARAMS_PEERS, &p, err, sizeof(err)), -EINVAL);
	assert_non_null(strstr(err, "limit: given twice"));
}

static void test_too_many_parameters_are_refused(void **state)
{
	struct http_request req = {.params_bad = true};
	struct list_params p;

	(void)state;
	assert_int_equal(params_parse(&req, PARAMS_PEERS, &p, err, sizeof(err)), -EINVAL);
}

static void test_a_cursor_reads_back_as_the_key_it_was_made_of(void **state)
{
	struct session_key key = {"host-2.example", "mlx5_0/2", "", "default"};
	struct session_key back;
	char text[CURSOR_TEXT_SIZE];

	(void)state;
	cursor_format(&key, text);
	assert_int_equal(strspn(text, "0123456789abcdef"), strlen(text));
	assert_true(cursor_parse(text, &back));
	assert_memory_equal(&key, &back, sizeof(key));
	memset(key.peer, 'p', sizeof(key.peer) - 1);
	memset(key.rail, 'r', sizeof(key.rail) - 1);
	memset(key.peer_rail, 'q', sizeof(key.peer_rail) - 1);
	memset(key.class_name, 'c', sizeof(key.class_name) - 1);
	cursor_format(&key, text);
	assert_true(cursor_parse(text, &back));
	assert_memory_equal(&key, &back, sizeof(key));
}

static void test_made_up_cursors_are_refused(void **state)
{
	char text[3 * CURSOR_TEXT_SIZE];
	struct session_key key;

	(void)state;
	assert_false(cursor_parse("61", &key));		      /* one part */
	assert_false(cursor_parse("610a620a630a640a", &key)); /* five */
	assert_false(cursor_parse("610a620a63", &key));	      /* three */
	assert_true(cursor_parse("610a620a630a64", &key));
	memset(text, '6', sizeof(text) - 1);
	for (size_t len = 0; len < sizeof(text); len++) {
		text[len] = '\0';
		assert_false(cursor_parse(text, &key));
		text[len] = '6';
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_filters_are_understood),
		cmocka_unit_test(test_a_bad_value_is_refused_by_name),
		cmocka_unit_test(test_a_parameter_that_is_unknown_here_is_refused_by_name),
		cmocka_unit_test(test_a_parameter_given_twice_is_refused),
		cmocka_unit_test(test_too_many_parameters_are_refused),
		cmocka_unit_test(test_a_cursor_reads_back_as_the_key_it_was_made_of),
		cmocka_unit_test(test_made_up_cursors_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
