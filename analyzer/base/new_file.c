#include "base/new_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int write_all(int fd, const void *bytes, size_t count)
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

int new_file_open(struct new_file *file, const char *path, struct err *err)
{
	struct stat status;
	mode_t mask;

	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) /* rename would replace it */
		return err_set(err, -EINVAL, "%s: not a file; give -o another name", path);
	file->path = path;
	if ((size_t)snprintf(file->temporary, sizeof(file->temporary), "%s.XXXXXX", path) >=
	    sizeof(file->temporary))
		return err_set(err, -ENAMETOOLONG, "%s: the name is too long", path);
	mask = umask(0);
	file->fd = mkstemp(file->temporary);
	umask(mask);
	if (file->fd < 0)
		return err_set(err, -errno, "%s: cannot be written: %s; give -o another name", path,
			       strerror(errno));
	if (fchmod(file->fd, 0666 & ~mask) < 0) /* mkstemp's 0600 hides it from other users */
		errno = 0;
	return 0;
}

int new_file_close(struct new_file *file, int rc, struct err *err)
{
	if (close(file->fd) < 0 && rc == 0)
		rc = err_set(err, -errno, "%s: could not be written: %s", file->path,
			     strerror(errno));
	if (rc == 0 && rename(file->temporary, file->path) < 0)
		rc = err_set(err, -errno, "%s: cannot be written: %s; give -o another name",
			     file->path, strerror(errno));
	if (rc < 0)
		unlink(file->temporary);
	return rc;
}
