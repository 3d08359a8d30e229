#include "support.h"

#include <errno.h>
#include <unistd.h>

#include "daemon/options.h"

static char err[256];

static int parse(struct options *o, char **argv)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	err[0] = '\0';
	return options_parse(o, argc, argv, err, sizeof(err));
}

#define ARGV(...) ((char *[]){(char[]){"rdma-pingmeshd"}, __VA_ARGS__, NULL})
#define ARG(s) ((char[]){s})

static void test_without_options_the_daemon_runs_on_its_default_file(void **state)
{
	struct options o;

	(void)state;
	assert_int_equal(parse(&o, (char *[]){ARG("rdma-pingmeshd"), NULL}), 0);
	assert_int_equal(o.action, OPTIONS_RUN);
	assert_string_equal(o.config, "/etc/rdma-pingmesh/rdma-pingmesh.conf");
	assert_string_equal(o.control, "/run/rdma-pingmesh/control");
	assert_string_equal(o.sysfs_root, "/sys");
	assert_false(o.sysfs_only);
	assert_int_equal(o.n_sets, 0);
}

static void test_every_option_is_taken(void **state)
{
	struct options o;

	(void)state;
	assert_int_equal(parse(&o, ARGV(ARG("--config"), ARG("/c"), ARG("--set=a.b=c=d"),
					ARG("--set"), ARG("x.y=z"), ARG("--sysfs-root"),
					ARG("/tmp/sys//"), ARG("--check-config"))),
			 0);
	assert_string_equal(o.config, "/c");
	assert_int_equal(o.n_sets, 2);
	assert_string_equal(o.sets[0], "a.b=c=d");
	assert_string_equal(o.sets[1], "x.y=z");
	assert_string_equal(o.sysfs_root, "/tmp/sys");
	assert_true(o.sysfs_only);
	assert_int_equal(o.action, OPTIONS_CHECK_CONFIG);
	assert_int_equal(parse(&o, ARGV(ARG("--print-config"))), 0);
	assert_int_equal(o.action, OPTIONS_PRINT_CONFIG);
	assert_int_equal(parse(&o, ARGV(ARG("--control"), ARG("/c/s"))), 0);
	assert_string_equal(o.control, "/c/s");
	assert_int_equal(parse(&o, ARGV(ARG("--version"))), 0);
	assert_int_equal(o.action, OPTIONS_VERSION);
	assert_int_equal(parse(&o, ARGV(ARG("--help"))), 0);
	assert_int_equal(o.action, OPTIONS_HELP);
}

static void test_the_real_sysfs_is_not_another_root(void **state)
{
	struct options o;

	(void)state;
	assert_int_equal(parse(&o, ARGV(ARG("--sysfs-root"), ARG("/sys/"))), 0);
	assert_false(o.sysfs_only);
	assert_int_equal(parse(&o, ARGV(ARG("--sysfs-root"), ARG("/"))), 0);
	assert_string_equal(o.sysfs_root, "/");
	assert_true(o.sysfs_only);
}

static void test_a_relative_sysfs_root_is_below_the_working_directory(void **state)
{
	struct options o;

	(void)state;
	assert_int_equal(chdir("/tmp"), 0);
	assert_int_equal(parse(&o, ARGV(ARG("--sysfs-root"), ARG("tree/sys/"))), 0);
	assert_string_equal(o.sysfs_root, "/tmp/tree/sys");
	assert_true(o.sysfs_only);
}

static void test_a_sysfs_root_that_is_too_long_is_refused(void **state)
{
	char path[OPTIONS_SYSFS_ROOT + 1] = "/";
	struct options o;

	(void)state;
	memset(path + 1, 'x', OPTIONS_SYSFS_ROOT - 1);
	assert_int_equal(parse(&o, ARGV(ARG("--sysfs-root"), path)), -EINVAL);
	path[OPTIONS_SYSFS_ROOT - 1] = '\0';
	assert_int_equal(parse(&o, ARGV(ARG("--sysfs-root"), path)), 0);
	assert_string_equal(o.sysfs_root, path);
}

static void refused(char **argv, const char *message)
{
	struct options o;

	assert_int_equal(parse(&o, argv), -EINVAL);
	assert_string_equal(err, message);
}

static void test_wrong_use_is_told(void **state)
{
	(void)state;
	refused(ARGV(ARG("--nope")), "unknown option --nope");
	refused(ARGV(ARG("-c"), ARG("x")), "unknown option -c");
	refused(ARGV(ARG("--config")), "--config needs a value");
	refused(ARGV(ARG("--set")), "--set needs a value");
	refused(ARGV(ARG("extra")), "unexpected argument 'extra'");
	refused(ARGV(ARG("--sysfs-root"), ARG("")),
		"--sysfs-root needs a directory whose absolute path has at most 255 bytes");
	refused(ARGV(ARG("--check-config"), ARG("--print-config")),
		"--check-config, --print-config, --print-plan, --version and --help exclude each "
		"other");
}

static void test_too_many_sets_are_refused(void **state)
{
	char *argv[2 * OPTIONS_SETS_MAX + 4] = {ARG("rdma-pingmeshd")};
	char set[] = "--set", value[] = "a.b=c";
	struct options o;

	(void)state;
	for (int i = 0; i < OPTIONS_SETS_MAX + 1; i++) {
		argv[1 + 2 * i] = set;
		argv[2 + 2 * i] = value;
	}
	assert_int_equal(parse(&o, argv), -EINVAL);
	argv[1 + 2 * OPTIONS_SETS_MAX] = NULL;
	assert_int_equal(parse(&o, argv), 0);
	assert_int_equal(o.n_sets, OPTIONS_SETS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_options_the_daemon_runs_on_its_default_file),
		cmocka_unit_test(test_every_option_is_taken),
		cmocka_unit_test(test_the_real_sysfs_is_not_another_root),
		cmocka_unit_test(test_a_relative_sysfs_root_is_below_the_working_directory),
		cmocka_unit_test(test_a_sysfs_root_that_is_too_long_is_refused),
		cmocka_unit_test(test_wrong_use_is_told),
		cmocka_unit_test(test_too_many_sets_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
