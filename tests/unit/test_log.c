#include "support.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/log.h"

/* stderr is a pipe during a test; what was logged is read from its other end. */
struct capture {
	int read_fd, saved_fd;
	char text[8192];
};

static void capture_start(struct capture *c)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	c->read_fd = fds[0];
	c->saved_fd = dup(STDERR_FILENO);
	assert_true(dup2(fds[1], STDERR_FILENO) >= 0);
	close(fds[1]);
	assert_int_equal(fcntl(c->read_fd, F_SETFL, O_NONBLOCK), 0);
}

static void capture_stop(struct capture *c)
{
	ssize_t n = read(c->read_fd, c->text, sizeof(c->text) - 1);

	c->text[n > 0 ? n : 0] = '\0';
	dup2(c->saved_fd, STDERR_FILENO);
	close(c->saved_fd);
	close(c->read_fd);
}

static int set_up(void **state)
{
	(void)state;
	unsetenv("JOURNAL_STREAM");
	log_set_level(LOG_LEVEL_INFO);
	return 0;
}

static void test_one_logfmt_line_with_utc_time(void **state)
{
	unsigned y, mo, d, h, mi, s, ms;
	struct capture c;
	int end = 0;

	(void)state;
	capture_start(&c);
	log_info("peer %s is up", "host2");
	capture_stop(&c);
	assert_int_equal(sscanf(c.text, "ts=%4u-%2u-%2uT%2u:%2u:%2u.%3uZ level=info msg=%n", &y,
				&mo, &d, &h, &mi, &s, &ms, &end),
			 7);
	assert_string_equal(c.text + end, "\"peer host2 is up\"\n");
}

static void test_a_hostile_name_cannot_forge_a_line(void **state)
{
	struct capture c;

	(void)state;
	capture_start(&c);
	log_warn("peer %s", "a\"\nlevel=error msg=\"x\x1b[2J\\");
	capture_stop(&c);
	assert_ptr_equal(strchr(c.text, '\n'), c.text + strlen(c.text) - 1);
	assert_non_null(strstr(c.text, "msg=\"peer a\\\"\\nlevel=error msg=\\\"x\\x1b[2J\\\\\"\n"));
}

static void test_bytes_that_are_not_utf8_become_text(void **state)
{
	struct capture c;

	(void)state;
	capture_start(&c);
	log_info("h\xff\xfe\xc3 \xc3\xa9 \xe2\x82\xac \xc2\x9b[31m \xed\xa0\x80");
	capture_stop(&c);
	assert_non_null(strstr(c.text, "msg=\"h\\xff\\xfe\\xc3 \xc3\xa9 \xe2\x82\xac "
				       "\\xc2\\x9b[31m \\xed\\xa0\\x80\"\n"));
}

static void test_levels_below_the_threshold_are_silent(void **state)
{
	struct capture c;

	(void)state;
	capture_start(&c);
	log_debug("no");
	log_set_level(LOG_LEVEL_ERROR);
	log_warn("no");
	log_error("yes");
	log_set_level(LOG_LEVEL_DEBUG);
	log_debug("also");
	capture_stop(&c);
	assert_null(strstr(c.text, "msg=\"no\""));
	assert_non_null(strstr(c.text, "level=error msg=\"yes\"\n"));
	assert_non_null(strstr(c.text, "level=debug msg=\"also\"\n"));
}

static void test_a_reader_that_stopped_does_not_block(void **state)
{
	struct capture c;

	(void)state;
	capture_start(&c);
	/* Far more than a pipe holds: returning at all is the test. */
	for (int i = 0; i < 20000; i++)
		log_info("line %d of many that nobody reads", i);
	capture_stop(&c);
	assert_non_null(strstr(c.text, "line 0 of many"));
}

static void test_a_long_message_is_cut_and_stays_one_line(void **state)
{
	static char word[20000];
	struct capture c;

	(void)state;
	memset(word, 0x01, sizeof(word) - 1);
	capture_start(&c);
	log_info("%s", word);
	capture_stop(&c);
	assert_true(strlen(c.text) > 1000);
	assert_ptr_equal(strchr(c.text, '\n'), c.text + strlen(c.text) - 1);
}

static void test_a_journal_that_is_not_stderr_is_not_used(void **state)
{
	struct capture c;

	(void)state;
	setenv("JOURNAL_STREAM", "1:1", 1);
	capture_start(&c);
	log_info("here");
	capture_stop(&c);
	assert_non_null(strstr(c.text, "msg=\"here\"\n"));
	setenv("JOURNAL_STREAM", "rubbish", 1);
	capture_start(&c);
	log_info("and here");
	capture_stop(&c);
	assert_non_null(strstr(c.text, "msg=\"and here\"\n"));
}

/* stderr is said to be the journal, but no journal listens: nothing may be lost. Where one does,
 * it gets the line, and then there is nothing on stderr. */
static void test_without_a_journal_socket_stderr_gets_the_line(void **state)
{
	bool has_journal = access("/run/systemd/journal/socket", F_OK) == 0;
	struct capture c;
	struct stat st;
	char env[64];

	(void)state;
	capture_start(&c);
	assert_int_equal(fstat(STDERR_FILENO, &st), 0);
	snprintf(env, sizeof(env), "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	setenv("JOURNAL_STREAM", env, 1);
	log_info("unit test of the log");
	capture_stop(&c);
	if (has_journal)
		assert_string_equal(c.text, "");
	else
		assert_non_null(strstr(c.text, "msg=\"unit test of the log\"\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_one_logfmt_line_with_utc_time, set_up),
		cmocka_unit_test_setup(test_a_hostile_name_cannot_forge_a_line, set_up),
		cmocka_unit_test_setup(test_bytes_that_are_not_utf8_become_text, set_up),
		cmocka_unit_test_setup(test_levels_below_the_threshold_are_silent, set_up),
		cmocka_unit_test_setup(test_a_reader_that_stopped_does_not_block, set_up),
		cmocka_unit_test_setup(test_a_long_message_is_cut_and_stays_one_line, set_up),
		cmocka_unit_test_setup(test_a_journal_that_is_not_stderr_is_not_used, set_up),
		cmocka_unit_test_setup(test_without_a_journal_socket_stderr_gets_the_line, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
