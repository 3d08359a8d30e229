#include "support.h"

#include "exporters/credentials.h"

static void expect(const char *header, const char *user, const char *password)
{
	struct credentials c;

	assert_true(credentials_parse(&c, header));
	assert_string_equal(c.user, user);
	assert_string_equal(c.password, password);
	credentials_forget(&c);
	assert_string_equal(c.password, "");
}

static void refuse(const char *header)
{
	struct credentials c;

	assert_false(credentials_parse(&c, header));
	assert_string_equal(c.password, "");
}

static void test_user_and_password_are_taken_apart_at_the_first_colon(void **state)
{
	(void)state;
	expect("Basic cHJvbWV0aGV1czpzZWNyZXQ=", "prometheus", "secret");
	expect("basic   cHJvbWV0aGV1czpzZWNyZXQ=", "prometheus", "secret");
	expect("Basic YTpiOmM6", "a", "b:c:");
	expect("Basic YTo=", "a", "");
	expect("Basic dGVzdDoxMjPCow==", "test", "123\xc2\xa3"); /* RFC 7617's own */
}

static void test_what_is_no_basic_authorization_is_refused(void **state)
{
	(void)state;
	refuse(NULL);
	refuse("");
	refuse("Basic");
	refuse("Basic ");
	refuse("Bearer cHJvbWV0aGV1czpzZWNyZXQ=");
	refuse("BasiccHJvbWV0aGV1czpzZWNyZXQ=");
	refuse("Basic ****");
	refuse("Basic YTpi YTpi");
	refuse("Basic YQ==");	  /* a */
	refuse("Basic OmI=");	  /* :b */
	refuse("Basic YQA6Yg=="); /* a NUL : b */
	refuse("Basic YTpiCg=="); /* a : b newline */
	refuse("Basic cHJvbWV0aGV1czpzZWNyZX");
}

static void test_what_is_too_long_is_refused(void **state)
{
	char text[2048] = "Basic ";

	(void)state;
	memset(text + 6, 'Y', 1600);
	refuse(text);
	/* aaa...a:b with more a than a name may have: YWFh is aaa. */
	text[6] = '\0';
	for (int i = 0; i < 22; i++)
		strcat(text, "YWFh");
	strcat(text, "YTpi");
	refuse(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_user_and_password_are_taken_apart_at_the_first_colon),
		cmocka_unit_test(test_what_is_no_basic_authorization_is_refused),
		cmocka_unit_test(test_what_is_too_long_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
