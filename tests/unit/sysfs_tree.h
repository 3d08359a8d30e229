/* A tree like /sys in a directory of its own, for tests that change it while it is read. */
#pragma once

/* Makes a directory in $TMPDIR; its path in root, at least 64 bytes. */
void sysfs_tree_make(char *root);
void sysfs_tree_remove(const char *root);
/* Path below root as printf says. The file and its directories are made. */
void sysfs_tree_put(const char *root, const char *text, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A symbolic link below root; its directory is there. */
void sysfs_tree_link(const char *root, const char *target, const char *path);
/* `class` of root becomes that of another tree, from one moment to the next; NULL: it is gone. */
void sysfs_tree_show(const char *root, const char *other);
