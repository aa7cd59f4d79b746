#include "trace/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/new_folder.h"
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
	rc = packed_copy(packed, fd, path, "; give -o a folder with space", err);
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

int pack_extract(const char *path, const char *target, struct err *err)
{
	struct new_folder folder;
	int rc = new_folder_open(&folder, target, err);

	if (rc < 0)
		return rc;
	rc = extract_files(path, folder.temporary, err);
	if (rc == 0)
		rc = check_recording(path, folder.temporary, err);
	return new_folder_close(&folder, rc, err);
}
