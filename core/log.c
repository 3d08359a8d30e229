#include "core/log.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/utf8.h"

#define MAX_MESSAGE 1500 /* bytes as formatted; longer is cut */
/* A line of at most PIPE_BUF is written whole or not at all. */
#define MAX_LINE 4096
#define JOURNAL_SOCKET "/run/systemd/journal/socket"

static enum log_level threshold = LOG_LEVEL_INFO;

static const char *level_name(enum log_level level)
{
	switch (level) {
	case LOG_LEVEL_ERROR:
		return "error";
	case LOG_LEVEL_WARN:
		return "warn";
	case LOG_LEVEL_INFO:
		return "info";
	case LOG_LEVEL_DEBUG:
		return "debug";
	}
	return "invalid";
}

static int level_priority(enum log_level level)
{
	switch (level) {
	case LOG_LEVEL_ERROR:
		return LOG_ERR;
	case LOG_LEVEL_WARN:
		return LOG_WARNING;
	case LOG_LEVEL_INFO:
		return LOG_INFO;
	case LOG_LEVEL_DEBUG:
		return LOG_DEBUG;
	}
	return LOG_ERR;
}

void log_set_level(enum log_level level)
{
	threshold = level;
}

bool log_enabled(enum log_level level)
{
	return level <= threshold;
}

/* JOURNAL_STREAM is inherited by children whose stderr went elsewhere: only the comparison
 * with stderr itself tells (systemd.exec(5)). */
static bool stderr_is_journal(void)
{
	const char *env = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;
	char rest;

	if (!env || sscanf(env, "%llu:%llu%c", &dev, &ino, &rest) != 2)
		return false;
	if (fstat(STDERR_FILENO, &st) < 0)
		return false;
	return st.st_dev == dev && st.st_ino == ino;
}

static void describe_byte(char esc[8], unsigned char c, bool quoted)
{
	if (c == '\n')
		strcpy(esc, "\\n");
	else if (c == '\t')
		strcpy(esc, "\\t");
	else if (c < 0x20 || c >= 0x7f)
		snprintf(esc, 8, "\\x%02x", c);
	else if (quoted && (c == '"' || c == '\\'))
		snprintf(esc, 8, "\\%c", c);
	else
		snprintf(esc, 8, "%c", c);
}

static size_t put(char *out, size_t at, size_t size, const char *text, size_t len)
{
	if (at + len >= size)
		return at;
	memcpy(out + at, text, len);
	out[at + len] = '\0';
	return at + len;
}

/* U+0080 to U+009F are controls, too. */
static bool is_printable(const char *s, size_t len)
{
	return len > 1 && !(s[0] == '\xc2' && (unsigned char)s[1] < 0xa0);
}

/* So that neither a log line nor a terminal can be forged, and the journal takes it for text: it
 * shows a message that is not UTF-8 as a blob. */
static size_t escape(char *out, size_t size, const char *in, bool quoted)
{
	size_t at = 0, left = strlen(in);
	char esc[8];

	out[0] = '\0';
	while (left > 0) {
		size_t n = utf8_char(in, left);

		if (is_printable(in, n)) {
			at = put(out, at, size, in, n);
		} else {
			n = 1;
			describe_byte(esc, (unsigned char)*in, quoted);
			at = put(out, at, size, esc, strlen(esc));
		}
		in += n;
		left -= n;
	}
	return at;
}

/* The journal's native protocol over a socket of our own: sd_journal_send() would wait for
 * a journal that has stopped reading, and a monitor must not stop for its log. */
static bool send_to_journal(enum log_level level, const char *text)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX, .sun_path = JOURNAL_SOCKET};
	char line[MAX_LINE];
	ssize_t sent;
	int fd, n;

	n = snprintf(line, sizeof(line), "PRIORITY=%d\nSYSLOG_IDENTIFIER=%s\nMESSAGE=%s\n",
		     level_priority(level), program_invocation_short_name, text);
	if (n < 0 || (size_t)n >= sizeof(line))
		return false;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	sent = sendto(fd, line, (size_t)n, MSG_NOSIGNAL, (struct sockaddr *)&sa, sizeof(sa));
	/* A full queue drops the line: stderr is the same journal and would block. */
	if (sent < 0 && errno == EAGAIN)
		sent = n;
	close(fd);
	return sent >= 0;
}

static void write_stderr(enum log_level level, const char *text)
{
	struct pollfd pfd = {.fd = STDERR_FILENO, .events = POLLOUT};
	uint64_t now = clock_wall_ns();
	time_t sec = (time_t)(now / NSEC_PER_SEC);
	char ts[32], line[MAX_LINE];
	struct tm tm;
	int n;

	if (!gmtime_r(&sec, &tm) || !strftime(ts, sizeof(ts), "%Y-%m-%dT%H:%M:%S", &tm))
		return;
	n = snprintf(line, sizeof(line), "ts=%s.%03uZ level=%s msg=\"%s\"\n", ts,
		     (unsigned)(now / NSEC_PER_MSEC % 1000), level_name(level), text);
	if (n < 0 || (size_t)n >= sizeof(line))
		return;
	/* A pipe that nobody reads: drop, do not wait. */
	if (poll(&pfd, 1, 0) != 1 || !(pfd.revents & POLLOUT))
		return;
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		return;
}

void log_msg(enum log_level level, const char *fmt, ...)
{
	/* Leave room for the fields around the message in MAX_LINE. */
	char message[MAX_MESSAGE], text[MAX_LINE - 128];
	int saved_errno = errno;
	va_list ap;

	if (!log_enabled(level))
		return;
	va_start(ap, fmt);
	if (vsnprintf(message, sizeof(message), fmt, ap) < 0)
		message[0] = '\0';
	va_end(ap);
	if (stderr_is_journal()) {
		escape(text, sizeof(text), message, false);
		if (send_to_journal(level, text))
			goto out;
	}
	escape(text, sizeof(text), message, true);
	write_stderr(level, text);
out:
	errno = saved_errno;
}
