#include "exporters/page.h"

#include <string.h>

#include "web/page_data.h"

#define FILE_OF(path_, type_, symbol_)                                                             \
	{                                                                                          \
		path_, type_, symbol_, sizeof(symbol_) - 1                                         \
	}

static const struct page_file files[] = {
	FILE_OF("/", "text/html; charset=utf-8", page_index_html),
	FILE_OF("/page.css", "text/css; charset=utf-8", page_page_css),
	FILE_OF("/page.js", "text/javascript; charset=utf-8", page_page_js),
	FILE_OF("/favicon.ico", "image/svg+xml", page_icon_svg),
};

const struct page_file *page_find(const char *path)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (strcmp(files[i].path, path) == 0)
			return &files[i];
	}
	return NULL;
}
