/* Log: journal when stderr is connected to it (JOURNAL_STREAM), else logfmt lines on stderr.
 * Only daemon/ and the start and death of a worker log; libraries return messages. */
#pragma once
#include <stdbool.h>

enum log_level {
	LOG_LEVEL_ERROR,
	LOG_LEVEL_WARN,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG,
};

/* Set the threshold; the only mutable global of the project. */
void log_set_level(enum log_level level);
bool log_enabled(enum log_level level);
/* One line. Newlines and control characters in the result are escaped. Never blocks on a dead
 * journal: a write that fails is dropped (SIGPIPE is ignored by main). */
void log_msg(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...) log_msg(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...) log_msg(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...) log_msg(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)                                                                             \
	do {                                                                                       \
		if (log_enabled(LOG_LEVEL_DEBUG))                                                  \
			log_msg(LOG_LEVEL_DEBUG, __VA_ARGS__);                                     \
	} while (0)
