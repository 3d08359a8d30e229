#include "cli/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct text_style terminal_style(void)
{
	const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
	struct text_style style = {0};
	struct winsize size;

	if (!isatty(STDOUT_FILENO))
		return style;
	style.colour = !(no_colour && no_colour[0]) && term && strcmp(term, "dumb") != 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		style.width = size.ws_col;
	return style;
}
