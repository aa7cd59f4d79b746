#include "base/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/temporary.h"

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

/* A link is followed: the file that it names is the one to be replaced. */
static int find_place(struct new_file *file, const char *path, struct stat *status, struct err *err)
{
	char *real = realpath(path, NULL);
	size_t length;

	*file = (struct new_file){.fd = -1, .path = path};
	length = (size_t)snprintf(file->place, sizeof(file->place), "%s", real ? real : path);
	free(real);
	if (length >= sizeof(file->place))
		return err_set(err, -ENAMETOOLONG, "%s: the name is too long", path);
	if (stat(file->place, status) < 0)
		*status = (struct stat){.st_mode = 0};
	return 0;
}

static int fail(const struct new_file *file, int rc, struct err *err)
{
	return err_set(err, rc, "%s: cannot be written: %s; give it another name", file->path,
		       strerror(-rc));
}

static int open_temporary(struct new_file *file, const struct stat *status, struct err *err)
{
	mode_t mask;

	if ((size_t)snprintf(file->temporary, sizeof(file->temporary), "%s.XXXXXX", file->place) >=
	    sizeof(file->temporary))
		return err_set(err, -ENAMETOOLONG, "%s: the name is too long", file->path);
	mask = umask(0);
	file->fd = temporary_make_file(file->temporary);
	umask(mask);
	if (file->fd < 0)
		return fail(file, file->fd, err);
	/* mkstemp's 0600 hides it from other users */
	if (fchmod(file->fd, status->st_mode ? status->st_mode & 0777 : 0666 & ~mask) < 0)
		errno = 0;
	return 0;
}

int new_file_open(struct new_file *file, const char *path, struct err *err)
{
	struct stat status = {.st_mode = 0};
	int rc = find_place(file, path, &status, err);

	if (rc < 0)
		return rc;
	if (status.st_mode && !S_ISREG(status.st_mode)) /* rename would replace it */
		return err_set(err, -EINVAL, "%s: not a file; give it another name", path);
	return open_temporary(file, &status, err);
}

int new_file_open_any(struct new_file *file, const char *path, struct err *err)
{
	struct stat status = {.st_mode = 0};
	int rc = find_place(file, path, &status, err);

	if (rc < 0)
		return rc;
	if (!status.st_mode || S_ISREG(status.st_mode))
		return open_temporary(file, &status, err);
	file->fd = open(path, O_WRONLY | O_CLOEXEC);
	return file->fd < 0 ? fail(file, -errno, err) : 0;
}

FILE *new_file_stream(struct new_file *file, struct err *err)
{
	file->stream = fdopen(file->fd, "w");
	if (!file->stream)
		err_set(err, -ENOMEM, "%s: out of memory", file->path);
	return file->stream;
}

int new_file_close(struct new_file *file, int rc, struct err *err)
{
	bool has_failed = file->stream && ferror(file->stream);

	errno = EIO;
	has_failed |= (file->stream ? fclose(file->stream) : close(file->fd)) != 0;
	if (has_failed && rc == 0)
		rc = err_set(err, -errno, "%s: could not be written: %s", file->path,
			     strerror(errno));
	if (!*file->temporary)
		return rc;
	if (rc == 0 && rename(file->temporary, file->place) < 0)
		rc = fail(file, -errno, err);
	if (rc < 0)
		temporary_remove(file->temporary);
	else
		temporary_forget(file->temporary);
	return rc;
}
