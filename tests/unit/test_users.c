#include "support.h"

#include "exporters/users.h"

#define SHA512 "$6$rounds=1000$salt$abcdefghijklmnopqrstuvwxyz"
#define YESCRYPT "$y$j9T$F5Jx5fExrKuPp53xLKQ..1$X3DX6M94c7o.9agCG9G317fhZg9SqC.5i5rd.RhAtQ7"
#define BCRYPT "$2y$05$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZabcde"

static void refuse(const char *text, size_t len, const char *message)
{
	char err[256] = "";

	assert_null(users_parse("users", text, len, err, sizeof(err)));
	if (!strstr(err, message))
		fail_msg("'%s' does not have '%s'", err, message);
	/* A password put where its hash should be must not get into a log. */
	assert_null(strstr(err, "secret"));
}

#define REFUSE(text, message) refuse(text, sizeof(text) - 1, message)

static void test_users_are_found_with_their_hashes(void **state)
{
	static const char text[] =
		"# comment\n\nprometheus:" SHA512 "  \r\nops:" YESCRYPT "\n#x:y\nlast:" BCRYPT;
	char err[256] = "";
	bool known = false;
	struct users *u = users_parse("users", text, sizeof(text) - 1, err, sizeof(err));

	(void)state;
	assert_string_equal(err, "");
	assert_non_null(u);
	assert_string_equal(users_hash(u, "prometheus", &known), SHA512);
	assert_true(known);
	assert_string_equal(users_hash(u, "ops", &known), YESCRYPT);
	assert_string_equal(users_hash(u, "last", &known), BCRYPT);
	assert_true(known);
	/* Somebody's, so that it takes as long. */
	assert_string_equal(users_hash(u, "nobody", &known), SHA512);
	assert_false(known);
	users_unref(u);
}

static void test_a_bad_line_is_named_and_not_shown(void **state)
{
	(void)state;
	REFUSE("", "there is no user");
	REFUSE("# nothing\n\n", "there is no user");
	REFUSE("a:" SHA512 "\nsecret\n", "users:2: must be USER:HASH");
	REFUSE(":" SHA512, "users:1: must be USER:HASH");
	REFUSE("a:secret", "users:1: the hash is none of");
	REFUSE("a:{PLAIN}secret", "users:1: the hash is none of");
	REFUSE("a:$apr1$salt$secret", "users:1: the hash is none of");
	REFUSE("a:$1$salt$qJH7.N4xYta3aEG/dfqo/0", "users:1: the hash is none of");
	REFUSE("a:abJnggxhB/yWI", "users:1: the hash is none of");
	REFUSE("a:$6$", "users:1: the hash is none of");
	REFUSE("a:*", "users:1: the hash is none of");
	REFUSE("a:" SHA512 "\n\n# x\na:" BCRYPT "\n", "users:4: the user is listed twice");
	REFUSE("a\001:" SHA512, "users:1: has a control character");
	REFUSE("a:" SHA512 "\0secret", "users:1: has a control character");
}

static void test_bounds(void **state)
{
	char *text = calloc(1, 64 * 1024), *at = text;

	(void)state;
	for (int i = 0; i < USERS_MAX + 1; i++)
		at += sprintf(at, "user%d:%s\n", i, SHA512);
	refuse(text, (size_t)(at - text), "users:257: more than 256 users");
	memset(text, 'x', 100);
	sprintf(text + 100, ":%s\n", SHA512);
	refuse(text, strlen(text), "users:1: the user's name is longer");
	sprintf(text, "a:$6$");
	memset(text + 5, 'x', 1000);
	refuse(text, 1005, "users:1: the hash is too long");
	free(text);
}

static void test_equal_is_by_content(void **state)
{
	char err[256];
	struct users *a = users_parse("a", "a:" SHA512, sizeof("a:" SHA512) - 1, err, sizeof(err));
	struct users *b = users_parse("b", "a:" SHA512 "\n", sizeof("a:" SHA512), err, sizeof(err));
	struct users *c = users_parse("c", "a:" BCRYPT, sizeof("a:" BCRYPT) - 1, err, sizeof(err));

	(void)state;
	assert_true(users_equal(a, b));
	assert_false(users_equal(a, c));
	assert_false(users_equal(a, NULL));
	assert_true(users_equal(NULL, NULL));
	users_unref(a);
	users_unref(b);
	users_unref(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_users_are_found_with_their_hashes),
		cmocka_unit_test(test_a_bad_line_is_named_and_not_shown),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_equal_is_by_content),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
