/* The page: files of web/, part of the program. */
#pragma once
#include <stddef.h>

struct page_file {
	const char *path; /* of the request */
	const char *content_type;
	const char *data;
	size_t size;
};

/* NULL: no such file. */
const struct page_file *page_find(const char *path);
