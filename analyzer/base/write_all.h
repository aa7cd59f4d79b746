/*
 * write_all.h - write(2) until everything is written.
 */
#ifndef ROOFLINE_WRITE_ALL_H
#define ROOFLINE_WRITE_ALL_H

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

/* Returns 0 or a negative errno. */
static inline int write_all(int fd, const void *bytes, size_t count)
{
	const char *next = bytes;

	while (count) {
		ssize_t written = write(fd, next, count);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		next += written;
		count -= (size_t)written;
	}
	return 0;
}

#endif
