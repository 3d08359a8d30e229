#include "support.h"

#include <fcntl.h>
#include <unistd.h>

#include "exporters/process.h"

static void test_an_open_file_shows(void **state)
{
	struct process_facts before, after;
	int fd;

	(void)state;
	process_read(&before);
	fd = open("/dev/null", O_RDONLY);
	process_read(&after);
	close(fd);
	assert_true(before.has_open_fds && before.has_memory);
	assert_int_equal(after.open_fds, before.open_fds + 1);
	assert_true(after.resident_bytes > 4096);
	assert_true(after.virtual_bytes >= after.resident_bytes);
	assert_true(after.cpu_ns >= before.cpu_ns && before.cpu_ns > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_open_file_shows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
