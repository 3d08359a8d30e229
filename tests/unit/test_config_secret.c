#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/config_keys.h"

static char path[64];

static int setup(void **state)
{
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/secret-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path);
}

static void hold(const char *text, size_t len, mode_t mode)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	fclose(f);
	assert_int_equal(chmod(path, mode), 0);
}

static int load(struct config *c, char err[CONF_MAX_ERROR])
{
	memset(c, 0, sizeof(*c));
	snprintf(c->secret_file, sizeof(c->secret_file), "%s", path);
	err[0] = '\0';
	return config_read_secret(c, err, CONF_MAX_ERROR);
}

static void assert_refused(const char *why)
{
	char err[CONF_MAX_ERROR];
	struct config c;

	assert_int_equal(load(&c, err), -EINVAL);
	assert_non_null(strstr(err, why));
	assert_non_null(strstr(err, path)); /* it names the file, and not what is in it */
	assert_null(strstr(err, "topsecret"));
	assert_false(c.has_secret);
}

static void test_no_file_is_no_secret(void **state)
{
	struct config c = {0};
	char err[CONF_MAX_ERROR];

	(void)state;
	assert_int_equal(config_read_secret(&c, err, sizeof(err)), 0);
	assert_false(c.has_secret);
}

static void test_the_key_is_of_the_content_without_its_last_newline(void **state)
{
	static const char *const texts[] = {"topsecret-topsecret", "topsecret-topsecret\n",
					    "topsecret-topsecret\r\n"};
	uint8_t key[MAC_KEY_LEN];
	char err[CONF_MAX_ERROR];
	struct config c;

	(void)state;
	mac_key(texts[0], strlen(texts[0]), key);
	for (size_t i = 0; i < COUNT(texts); i++) {
		hold(texts[i], strlen(texts[i]), 0640);
		assert_int_equal(load(&c, err), 0);
		assert_true(c.has_secret);
		assert_memory_equal(c.secret, key, sizeof(key));
	}
}

static void test_too_short_or_too_long_is_none(void **state)
{
	static char much[4098];

	(void)state;
	hold("", 0, 0600);
	assert_refused("holds 0 bytes");
	hold("topsecret-topse\n", 16, 0600);
	assert_refused("holds 15 bytes");
	memset(much, 'x', sizeof(much));
	hold(much, sizeof(much), 0600);
	assert_refused("it must be 16 to 4096");
}

static void test_what_everybody_can_read_is_no_secret(void **state)
{
	static const mode_t modes[] = {0644, 0604, 0660, 0602, 0601, 0620};

	(void)state;
	for (size_t i = 0; i < COUNT(modes); i++) {
		hold("topsecret-topsecret", 19, modes[i]);
		assert_refused("chmod 0640");
	}
}

static void test_another_users_file_is_refused(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	hold("topsecret-topsecret", 19, 0600);
	assert_int_equal(chown(path, 12345, 12345), 0);
	assert_refused("must be root's");
}

static void test_what_is_no_file_neither_hangs_nor_loads(void **state)
{
	(void)state;
	assert_int_equal(unlink(path), 0);
	assert_refused("No such file");
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_refused("no regular file");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_no_file_is_no_secret),
		TEST(test_the_key_is_of_the_content_without_its_last_newline),
		TEST(test_too_short_or_too_long_is_none),
		TEST(test_what_everybody_can_read_is_no_secret),
		TEST(test_another_users_file_is_refused),
		TEST(test_what_is_no_file_neither_hangs_nor_loads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
