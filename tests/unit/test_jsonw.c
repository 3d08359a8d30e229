#include "support.h"

#include <jansson.h>
#include <math.h>

#include "exporters/jsonw.h"

static void test_commas_stand_where_they_belong(void **state)
{
	struct strbuf out = {0};
	struct jsonw j = {.out = &out};

	(void)state;
	jsonw_open_object(&j);
	jsonw_put_u64(&j, "a", 1);
	jsonw_key(&j, "b");
	jsonw_open_array(&j);
	jsonw_close_array(&j);
	jsonw_key(&j, "c");
	jsonw_open_array(&j);
	jsonw_bool(&j, true);
	jsonw_open_object(&j);
	jsonw_close_object(&j);
	jsonw_null(&j);
	jsonw_close_array(&j);
	jsonw_close_object(&j);
	assert_string_equal(out.data, "{\"a\":1,\"b\":[],\"c\":[true,{},null]}");
	strbuf_free(&out);
}

static void test_numbers_beyond_signed_64_bits_are_strings(void **state)
{
	struct strbuf out = {0};
	struct jsonw j = {.out = &out};

	(void)state;
	jsonw_open_array(&j);
	jsonw_u64(&j, 9223372036854775807ULL);
	jsonw_u64(&j, 9223372036854775808ULL);
	jsonw_u64(&j, UINT64_MAX);
	jsonw_close_array(&j);
	assert_string_equal(
		out.data, "[9223372036854775807,\"9223372036854775808\",\"18446744073709551615\"]");
	strbuf_free(&out);
}

static void test_what_is_unknown_is_null(void **state)
{
	struct strbuf out = {0};
	struct jsonw j = {.out = &out};

	(void)state;
	jsonw_open_array(&j);
	jsonw_double(&j, NAN);
	jsonw_double(&j, INFINITY);
	jsonw_double(&j, 0.25);
	jsonw_close_array(&j);
	assert_string_equal(out.data, "[null,null,0.25]");
	strbuf_reset(&out);
	j = (struct jsonw){.out = &out};
	jsonw_open_object(&j);
	jsonw_put_timestamp(&j, "never", 0);
	jsonw_put_known_string(&j, "nothing", "");
	jsonw_put_string(&j, "empty", "");
	jsonw_put_known_u64(&j, "zero", 0);
	jsonw_close_object(&j);
	assert_string_equal(out.data,
			    "{\"never\":null,\"nothing\":null,\"empty\":\"\",\"zero\":null}");
	strbuf_free(&out);
}

static void test_any_bytes_make_a_valid_string(void **state)
{
	char bytes[257];
	struct strbuf out = {0};
	struct jsonw j = {.out = &out};
	json_t *parsed;

	(void)state;
	for (int i = 0; i < 255; i++)
		bytes[i] = (char)(i + 1);
	bytes[255] = '\0';
	jsonw_open_array(&j);
	jsonw_string(&j, bytes);
	jsonw_string(&j, "\xc3\xa9\"\\\n");
	jsonw_close_array(&j);
	parsed = json_loads(out.data, 0, NULL);
	assert_non_null(parsed);
	assert_string_equal(json_string_value(json_array_get(parsed, 1)), "\xc3\xa9\"\\\n");
	json_decref(parsed);
	strbuf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commas_stand_where_they_belong),
		cmocka_unit_test(test_numbers_beyond_signed_64_bits_are_strings),
		cmocka_unit_test(test_what_is_unknown_is_null),
		cmocka_unit_test(test_any_bytes_make_a_valid_string),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
