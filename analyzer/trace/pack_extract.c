#include "trace/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "base/temporary.h"
#include "trace/packed.h"
#include "trace/recording.h"

/* As old as what it comes from: the newest recording is the one that was made last. */
static void set_time(int fd, const struct packed *packed)
{
	struct timespec times[2];

	if (!packed_time(packed, &times[1]))
		return;
	times[0] = times[1];
	(void)!futimens(fd, times);
}

/* The folder is ours and new, so nothing in it is a link and no name is there twice. */
static int extract_file(struct packed *packed, const char *folder, const char *name,
			struct err *err)
{
	char path[PATH_MAX];
	long long rc;
	int fd;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) >= sizeof(path))
		return err_set(err, -ENAMETOOLONG, "%s/%s: the name is too long", folder, name);
	rc = path_make_parents(path, strlen(folder) + 1);
	if (rc < 0)
		return err_set(err, (int)rc, "%s: cannot be made: %s", path, strerror((int)-rc));
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		return err_set(err, -errno, "%s: cannot be written: %s", path, strerror(errno));
	rc = packed_copy(packed, fd, path, "", err);
	set_time(fd, packed);
	if (close(fd) < 0 && rc >= 0)
		rc = err_set(err, -errno, "%s: could not be written: %s", path, strerror(errno));
	return rc < 0 ? (int)rc : 0;
}

static int extract_files(const char *path, const char *folder, struct err *err)
{
	struct packed *packed;
	const char *name;
	int rc = packed_open(&packed, path, err);

	while (rc >= 0 && (rc = packed_next(packed, &name, err)) > 0)
		rc = extract_file(packed, folder, name, err);
	packed_close(packed);
	return rc;
}

static int check_recording(const char *path, const char *folder, struct err *err)
{
	struct recording recording;
	int rc = recording_open(&recording, folder, err);

	if (rc == 0 && (!recording.process_count || recording.is_process))
		rc = err_set(err, -ENOENT,
			     "%s: is no packed recording: no folder in it holds process.csv; make "
			     "one with: rooflinectl pack DIR",
			     path);
	recording_close(&recording);
	return rc;
}

static int make_folder(char *temporary, struct err *err)
{
	mode_t mask = umask(0);

	umask(mask);
	if (!mkdtemp(temporary))
		return err_set(err, -errno, "%s: cannot be made: %s; give -o another name",
			       temporary, strerror(errno));
	temporary_add(temporary);
	if (chmod(temporary, 0777 & ~mask) < 0) /* mkdtemp's 0700 hides it from other users */
		errno = 0;
	return 0;
}

/* Beside the folder, and hidden: nobody reads what is not whole. */
static bool name_temporary(char *temporary, size_t size, const char *folder)
{
	const char *slash = strrchr(folder, '/'), *name = slash ? slash + 1 : folder;

	return (size_t)snprintf(temporary, size, "%.*s.%s.XXXXXX", (int)(name - folder), folder,
				name) < size;
}

int pack_extract(const char *path, const char *folder, struct err *err)
{
	char temporary[PATH_MAX];
	struct stat status;
	int rc;

	if (lstat(folder, &status) == 0)
		return err_set(err, -EEXIST, "%s: is there already; give -o another name", folder);
	if (!name_temporary(temporary, sizeof(temporary), folder))
		return err_set(err, -ENAMETOOLONG, "%s: the name is too long", folder);
	rc = make_folder(temporary, err);
	if (rc < 0)
		return rc;
	rc = extract_files(path, temporary, err);
	if (rc == 0)
		rc = check_recording(path, temporary, err);
	if (rc == 0 && rename(temporary, folder) < 0)
		rc = err_set(err, -errno, "%s: cannot be made: %s; give -o another name", folder,
			     strerror(errno));
	if (rc < 0)
		temporary_remove(temporary);
	else
		temporary_forget(temporary);
	return rc;
}
