#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static bool is_quiet;

void log_set_quiet(bool quiet)
{
	is_quiet = quiet;
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
	/* A complaint that cannot be written has nowhere else to go. */
	if (write(STDERR_FILENO, line, used) < 0)
		errno = saved_errno;
	errno = saved_errno;
}
