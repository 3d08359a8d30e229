#include "sysfs_tree.h"

#include "support.h"

#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

void sysfs_tree_make(char *root)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(root, 64, "%.40s/sysfs.XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(root));
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void sysfs_tree_remove(const char *root)
{
	nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void make_parents(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
}

void sysfs_tree_put(const char *root, const char *text, const char *fmt, ...)
{
	char below[PATH_MAX / 2], path[PATH_MAX];
	va_list args;
	FILE *f;

	va_start(args, fmt);
	vsnprintf(below, sizeof(below), fmt, args);
	va_end(args);
	snprintf(path, sizeof(path), "%s/%s", root, below);
	make_parents(path);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

void sysfs_tree_link(const char *root, const char *target, const char *path)
{
	char whole[PATH_MAX];

	snprintf(whole, sizeof(whole), "%s/%s", root, path);
	assert_int_equal(symlink(target, whole), 0);
}

void sysfs_tree_show(const char *root, const char *other)
{
	char link[PATH_MAX], target[PATH_MAX], next[PATH_MAX];

	snprintf(link, sizeof(link), "%s/class", root);
	snprintf(next, sizeof(next), "%s/next", root);
	if (!other) {
		unlink(link);
		return;
	}
	snprintf(target, sizeof(target), "%s/class", other);
	assert_int_equal(symlink(target, next), 0);
	assert_int_equal(rename(next, link), 0);
}
