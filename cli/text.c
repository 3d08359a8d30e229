#include "cli/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static bool continues(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* Length of the sequence at s that must not reach a terminal; 0: harmless. */
static size_t harmful(const unsigned char *s)
{
	if (s[0] < 0x20 || s[0] == 0x7f)
		return 1;
	if (s[0] == 0xc2 && s[1] >= 0x80 && s[1] < 0xa0) /* C1 */
		return 2;
	/* U+200E, U+200F, U+2028..U+202E, U+2066..U+2069 */
	if (s[0] == 0xe2 && s[1] == 0x80 &&
	    ((s[2] >= 0xa8 && s[2] <= 0xae) || s[2] == 0x8e || s[2] == 0x8f))
		return 3;
	if (s[0] == 0xe2 && s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9)
		return 3;
	return 0;
}

void text_add_clean(struct strbuf *sb, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	while (*s) {
		size_t bad = harmful(s);

		strbuf_putc(sb, bad ? '?' : (char)*s);
		s += bad ? bad : 1;
	}
}

size_t text_width(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += !continues((unsigned char)*text);
	return n;
}

void text_add_cut(struct strbuf *sb, const char *text, size_t width)
{
	bool cut = text_width(text) > width;
	size_t left = cut && width ? width - 1 : width;

	for (; *text; text++) {
		if (!continues((unsigned char)*text) && left-- == 0)
			break;
		strbuf_putc(sb, *text);
	}
	if (cut && width)
		strbuf_puts(sb, "\xe2\x80\xa6");
}

const char *text_colour(const char *verdict)
{
	static const struct {
		const char *verdict, *colour;
	} known[] = {
		{"ok", "\033[32m"},
		{"degraded", "\033[33m"},
		{"failing", "\033[1;31m"},
		{"unknown", "\033[35m"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(verdict, known[i].verdict))
			return known[i].colour;
	return "";
}

const char *text_latency(double seconds, char buf[TEXT_SHORT])
{
	if (!(seconds >= 0) || seconds > 1e6)
		return "?";
	if (seconds < 1e-6)
		snprintf(buf, TEXT_SHORT, "%.0fns", seconds * 1e9);
	else if (seconds < 10e-6)
		snprintf(buf, TEXT_SHORT, "%.1fus", seconds * 1e6);
	else if (seconds < 1e-3)
		snprintf(buf, TEXT_SHORT, "%.0fus", seconds * 1e6);
	else if (seconds < 1)
		snprintf(buf, TEXT_SHORT, "%.3gms", seconds * 1e3);
	else
		snprintf(buf, TEXT_SHORT, "%.2fs", seconds);
	return buf;
}

const char *text_duration(double seconds, char buf[TEXT_SHORT])
{
	unsigned long long s;

	if (!(seconds >= 0))
		seconds = 0;
	if (seconds > 1e12)
		return "?";
	s = (unsigned long long)seconds;
	if (s < 60)
		snprintf(buf, TEXT_SHORT, "%llus", s);
	else if (s < 3600)
		snprintf(buf, TEXT_SHORT, "%llum%02llus", s / 60, s % 60);
	else if (s < 86400)
		snprintf(buf, TEXT_SHORT, "%lluh%02llum", s / 3600, s / 60 % 60);
	else
		snprintf(buf, TEXT_SHORT, "%llud%02lluh", s / 86400, s / 3600 % 24);
	return buf;
}

const char *text_date(double unix_time, char buf[TEXT_SHORT])
{
	struct tm tm;
	time_t t;

	if (!(unix_time > 0) || unix_time > 1e11)
		return "-";
	t = (time_t)unix_time;
	if (!gmtime_r(&t, &tm) || !strftime(buf, TEXT_SHORT, "%Y-%m-%d %H:%M:%SZ", &tm))
		return "-";
	return buf;
}

const char *text_rate(uint64_t bytes_per_second, uint64_t expected, char buf[TEXT_SHORT])
{
	double rate = (double)bytes_per_second * 8 / 1e9;

	if (bytes_per_second < expected)
		snprintf(buf, TEXT_SHORT, "%.3g of %.3g Gb/s", rate, (double)expected * 8 / 1e9);
	else
		snprintf(buf, TEXT_SHORT, "%.3g Gb/s", rate);
	return buf;
}
