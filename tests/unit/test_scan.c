#include "support.h"

#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/scan.h"

static char root[64];

static int make_root(void **state)
{
	(void)state;
	strcpy(root, "/tmp/scan-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int remove_root(void **state)
{
	(void)state;
	return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void make(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s%s%s", root, name[0] ? "/" : "", name);
	assert_int_equal(mkdir(path, 0755), 0);
}

static void make_class(void)
{
	make("class");
	make("class/infiniband");
}

static void test_devices_are_found_in_the_order_of_names(void **state)
{
	struct scan_result r;

	(void)state;
	make_class();
	make("class/infiniband/rxe1");
	make("class/infiniband/mlx5_0");
	make("class/infiniband/.hidden");
	make("class/infiniband/a b");
	scan_directory(root, &r);
	assert_true(r.readable);
	assert_int_equal(r.n, 2);
	assert_string_equal(r.name[0], "mlx5_0");
	assert_string_equal(r.name[1], "rxe1");
	assert_int_equal(r.beyond, 0);
}

static void test_missing_class_is_told_with_its_error(void **state)
{
	struct scan_result r;

	(void)state;
	scan_directory(root, &r);
	assert_false(r.readable);
	assert_int_equal(r.error, ENOENT);
	assert_int_equal(r.n, 0);
}

static void test_empty_class_is_readable_and_empty(void **state)
{
	struct scan_result r;

	(void)state;
	make_class();
	scan_directory(root, &r);
	assert_true(r.readable);
	assert_int_equal(r.n, 0);
}

static void test_devices_past_the_bound_are_counted(void **state)
{
	struct scan_result r;
	char name[64];

	(void)state;
	make_class();
	for (unsigned i = 0; i < SCAN_MAX + 3; i++) {
		snprintf(name, sizeof(name), "class/infiniband/d%u", i);
		make(name);
	}
	scan_directory(root, &r);
	assert_int_equal(r.n, SCAN_MAX);
	assert_int_equal(r.beyond, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_devices_are_found_in_the_order_of_names,
						make_root, remove_root),
		cmocka_unit_test_setup_teardown(test_missing_class_is_told_with_its_error,
						make_root, remove_root),
		cmocka_unit_test_setup_teardown(test_empty_class_is_readable_and_empty, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(test_devices_past_the_bound_are_counted, make_root,
						remove_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
