#include "support.h"

#include "cli/value.h"

static json_t *load(const char *text)
{
	json_t *j = json_loads(text, 0, NULL);

	assert_non_null(j);
	return j;
}

static void test_members_of_the_right_type_are_read(void **state)
{
	json_t *j = load("{\"t\":\"x\",\"n\":7,\"d\":0.5,\"o\":{},\"a\":[]}");
	double d;

	(void)state;
	assert_string_equal(value_text(j, "t", "none"), "x");
	assert_int_equal(value_u64(j, "n", 1), 7);
	assert_true(value_double(j, "d", &d) && d == 0.5);
	assert_true(value_double(j, "n", &d) && d == 7);
	assert_non_null(value_object(j, "o"));
	assert_non_null(value_array(j, "a"));
	json_decref(j);
}

static void test_numbers_beyond_63_bits_come_as_strings(void **state)
{
	json_t *j = load("{\"big\":\"18446744073709551615\",\"more\":\"18446744073709551616\","
			 "\"sign\":\"-1\",\"junk\":\"1x\"}");

	(void)state;
	assert_true(value_u64(j, "big", 0) == UINT64_MAX);
	assert_int_equal(value_u64(j, "more", 3), 3);
	assert_int_equal(value_u64(j, "sign", 3), 3);
	assert_int_equal(value_u64(j, "junk", 3), 3);
	json_decref(j);
}

static void test_missing_null_and_wrong_types_are_the_default(void **state)
{
	json_t *j = load("{\"t\":1,\"n\":-7,\"d\":null,\"o\":[],\"a\":{}}");
	double d;

	(void)state;
	assert_string_equal(value_text(j, "t", "none"), "none");
	assert_string_equal(value_text(j, "absent", "none"), "none");
	assert_int_equal(value_u64(j, "n", 1), 1);
	assert_false(value_double(j, "d", &d));
	assert_null(value_object(j, "o"));
	assert_null(value_array(j, "a"));
	json_decref(j);
}

static void test_no_object_is_like_an_empty_one(void **state)
{
	json_t *array = load("[1]");
	double d;

	(void)state;
	assert_string_equal(value_text(NULL, "t", "none"), "none");
	assert_int_equal(value_u64(array, "n", 1), 1);
	assert_false(value_double(NULL, "d", &d));
	assert_null(value_object(array, "o"));
	json_decref(array);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members_of_the_right_type_are_read),
		cmocka_unit_test(test_numbers_beyond_63_bits_come_as_strings),
		cmocka_unit_test(test_missing_null_and_wrong_types_are_the_default),
		cmocka_unit_test(test_no_object_is_like_an_empty_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
