/* Feeds a fuzz target with files: replay FILE|FOLDER... */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "fuzz.h"

static int feed(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct stat st;
	uint8_t *data;
	size_t n;

	if (!f || fstat(fileno(f), &st) < 0) {
		perror(path);
		return 1;
	}
	/* Of exactly that size, so that a sanitizer sees who reads past the end. */
	data = malloc((size_t)st.st_size ? (size_t)st.st_size : 1);
	n = fread(data, 1, (size_t)st.st_size, f);
	fclose(f);
	LLVMFuzzerTestOneInput(data, n);
	free(data);
	return 0;
}

static int feed_folder(const char *path, DIR *dir)
{
	struct dirent *e;
	char file[4096];
	int failed = 0, n = 0;

	while ((e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, e->d_name);
		failed |= feed(file);
		n++;
	}
	closedir(dir);
	printf("%s: %d files\n", path, n);
	return failed || n == 0;
}

int main(int argc, char **argv)
{
	int failed = argc < 2;

	for (int i = 1; i < argc; i++) {
		DIR *dir = opendir(argv[i]);

		failed |= dir ? feed_folder(argv[i], dir) : feed(argv[i]);
	}
	return failed;
}
