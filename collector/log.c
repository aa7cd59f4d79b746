#include "log.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard.h"

static bool is_quiet;

void log_set_quiet(bool quiet)
{
	is_quiet = quiet;
}

static struct stat at_load; /* what was open as stderr; of no inode where nothing was */

__attribute__((constructor)) static void note_standard_error(void)
{
	if (fstat(STDERR_FILENO, &at_load) < 0)
		at_load.st_ino = 0;
}

/* A program may close it and open a file of its own as the same descriptor. */
static bool is_file_of_program(void)
{
	struct stat now;

	return fstat(STDERR_FILENO, &now) == 0 && S_ISREG(now.st_mode) &&
	       (now.st_dev != at_load.st_dev || now.st_ino != at_load.st_ino);
}

/* A warning that cannot be written has nowhere else to go, and one that must wait for a reader would
 * hold up the application: a pipe is writable when it has room for the whole line. */
static void write_now(const char *line, size_t length)
{
	struct pollfd standard_error = {.fd = STDERR_FILENO, .events = POLLOUT};
	struct guard guard;

	guard_enter(&guard);
	if (!is_file_of_program() && poll(&standard_error, 1, 0) == 1 &&
	    standard_error.revents == POLLOUT)
		(void)!write(STDERR_FILENO, line, length);
	guard_leave(&guard);
}

/* Where lines of a thread without stderr are kept; it alone looks at the text. */
static bool (*must_hold)(void);
static char *held;
static size_t held_room;

void log_hold(bool (*is_thread)(void), char *text, size_t room)
{
	held = text;
	held_room = room;
	__atomic_store_n(&must_hold, is_thread, __ATOMIC_RELEASE);
}

void log_print(const char *lines)
{
	int saved_errno = errno;

	write_now(lines, strlen(lines));
	errno = saved_errno;
}

static void write_or_hold(const char *line, size_t length)
{
	bool (*is_held)(void) = __atomic_load_n(&must_hold, __ATOMIC_ACQUIRE);
	size_t used;

	if (!is_held || !is_held()) {
		write_now(line, length);
		return;
	}
	used = strlen(held);
	if (used + length < held_room)
		snprintf(held + used, held_room - used, "%.*s", (int)length, line);
}

void log_warn(const char *format, ...)
{
	static const char prefix[] = "rooflinecollector: ";
	int saved_errno = errno;
	char line[1024];
	size_t used = sizeof(prefix) - 1;
	va_list arguments;
	int length;

	if (is_quiet)
		return;
	snprintf(line, sizeof(line), "%s", prefix);
	va_start(arguments, format);
	length = vsnprintf(line + used, sizeof(line) - used - 1, format, arguments);
	va_end(arguments);
	if (length > 0)
		used += (size_t)length < sizeof(line) - used - 1 ? (size_t)length
								 : sizeof(line) - used - 2;
	line[used++] = '\n';
	write_or_hold(line, used);
	errno = saved_errno;
}
