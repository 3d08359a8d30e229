#include "support.h"

#include "core/strbuf.h"

static void test_grows_and_stays_terminated(void **state)
{
	struct strbuf sb = {0};

	(void)state;
	for (int i = 0; i < 10000; i++)
		strbuf_putc(&sb, (char)('a' + i % 26));
	assert_int_equal(sb.len, 10000);
	assert_int_equal(strlen(sb.data), 10000);
	assert_int_equal(sb.data[9999], 'a' + 9999 % 26);
	assert_false(strbuf_failed(&sb));
	strbuf_free(&sb);
	assert_null(sb.data);
}

static void test_big_numbers_keep_all_digits(void **state)
{
	struct strbuf sb = {0};

	(void)state;
	strbuf_u64(&sb, 922159499729932ULL);
	strbuf_putc(&sb, ' ');
	strbuf_u64(&sb, UINT64_MAX);
	strbuf_putc(&sb, ' ');
	strbuf_u64(&sb, 0);
	assert_string_equal(sb.data, "922159499729932 18446744073709551615 0");
	strbuf_free(&sb);
}

static void test_formats_longer_than_its_memory(void **state)
{
	struct strbuf sb = {0};
	char word[2000];

	(void)state;
	memset(word, 'x', sizeof(word));
	word[sizeof(word) - 1] = '\0';
	strbuf_printf(&sb, "%s=%d", word, 7);
	assert_int_equal(sb.len, sizeof(word) - 1 + 2);
	assert_string_equal(sb.data + sizeof(word) - 1, "=7");
	strbuf_free(&sb);
}

static void test_reset_keeps_the_memory(void **state)
{
	struct strbuf sb = {0};
	char *data;

	(void)state;
	strbuf_puts(&sb, "abc");
	data = sb.data;
	strbuf_reset(&sb);
	assert_int_equal(sb.len, 0);
	assert_string_equal(sb.data, "");
	strbuf_puts(&sb, "d");
	assert_ptr_equal(sb.data, data);
	assert_string_equal(sb.data, "d");
	strbuf_free(&sb);
}

static void test_a_failure_drops_what_follows_and_is_told(void **state)
{
	struct strbuf sb = {0};

	(void)state;
	strbuf_puts(&sb, "kept");
	strbuf_add(&sb, "", SIZE_MAX / 2);
	assert_true(strbuf_failed(&sb));
	strbuf_puts(&sb, "dropped");
	assert_string_equal(sb.data, "kept");
	strbuf_reset(&sb);
	assert_false(strbuf_failed(&sb));
	strbuf_free(&sb);
}

static void test_empty_and_null_can_be_freed(void **state)
{
	struct strbuf sb = {0};

	(void)state;
	strbuf_free(NULL);
	strbuf_add(&sb, NULL, 0);
	assert_string_equal(sb.data, "");
	strbuf_free(&sb);
	strbuf_free(&sb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grows_and_stays_terminated),
		cmocka_unit_test(test_big_numbers_keep_all_digits),
		cmocka_unit_test(test_formats_longer_than_its_memory),
		cmocka_unit_test(test_reset_keeps_the_memory),
		cmocka_unit_test(test_a_failure_drops_what_follows_and_is_told),
		cmocka_unit_test(test_empty_and_null_can_be_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
