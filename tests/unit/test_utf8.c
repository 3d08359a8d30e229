#include "support.h"

#include "core/utf8.h"

static size_t length_of(const char *s)
{
	return utf8_char(s, strlen(s));
}

static void test_characters_of_each_length_are_known(void **state)
{
	(void)state;
	assert_int_equal(length_of("a"), 1);
	assert_int_equal(length_of("\xc3\xa9x"), 2);
	assert_int_equal(length_of("\xe2\x82\xac"), 3);
	assert_int_equal(length_of("\xf0\x9f\x98\x80"), 4);
	assert_int_equal(length_of("\xf4\x8f\xbf\xbf"), 4);
}

static void test_what_is_not_utf8_is_refused(void **state)
{
	static const char *const bad[] = {
		"\x80",		    /* continuation alone */
		"\xc0\xaf",	    /* overlong slash */
		"\xe0\x80\xaf",	    /* overlong */
		"\xf0\x80\x80\xaf", /* overlong */
		"\xed\xa0\x80",	    /* surrogate */
		"\xf4\x90\x80\x80", /* above U+10FFFF */
		"\xff",
		"\xfe",
		"\xe2\x82", /* cut off */
		"\xe2\x28\xa1",
		"\xf0\x9f\x98",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(length_of(bad[i]), 0);
	assert_int_equal(utf8_char("", 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_characters_of_each_length_are_known),
		cmocka_unit_test(test_what_is_not_utf8_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
