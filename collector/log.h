/*
 * log.h - the collector's only output: one line on stderr, each warning once.
 *
 * Never writes to stdout, never exits, keeps errno.  Knows nothing of CUPTI.
 */
#ifndef ROOFLINE_LOG_H
#define ROOFLINE_LOG_H

#include <stdbool.h>
#include <stddef.h>

/* Silences every warning (ROOFLINE_QUIET=1). */
void log_set_quiet(bool quiet);

/* Says it: "rooflinecollector: ..." and a newline, in one write. */
__attribute__((format(printf, 1, 2))) void log_warn(const char *format, ...);

/* Lines of the thread for which is_thread is true, which has no stderr, are kept in text, as far as there is room, for another
 * thread to print. */
void log_hold(bool (*is_thread)(void), char *text, size_t room);
void log_print(const char *lines);

/* Says it the first time that this place in the code is reached. */
#define log_warn_once(...)                                                \
	do {                                                              \
		static bool said_;                                        \
		if (!__atomic_exchange_n(&said_, true, __ATOMIC_RELAXED)) \
			log_warn(__VA_ARGS__);                            \
	} while (0)

#endif
