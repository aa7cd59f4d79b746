#define _GNU_SOURCE /* versionsort */

#include "cmd/compare_sides.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/paths.h"
#include "trace/recording.h"

static bool is_folder(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool is_packed(const char *path)
{
	size_t length = strlen(path), suffix = strlen(PATH_PACKED_SUFFIX);

	return length > suffix && !strcmp(path + length - suffix, PATH_PACKED_SUFFIX) &&
	       !is_folder(path);
}

static int add_if_recording(struct sides *sides, const char *folder, const char *name)
{
	char path[PATH_MAX];

	if (name[0] == '.' ||
	    (size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) >= sizeof(path) ||
	    !(is_packed(path) || recording_is_folder(path)))
		return 0;
	return sides_add_path(sides, path);
}

static int add_folder(struct sides *sides, const char *folder, struct err *err)
{
	size_t known = sides->items[sides->count - 1].path_count;
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, NULL, versionsort), rc = 0;

	for (int i = 0; i < count; i++) {
		if (rc == 0)
			rc = add_if_recording(sides, folder, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	if (rc < 0)
		return err_set(err, rc, "out of memory");
	if (sides->items[sides->count - 1].path_count == known)
		return err_set(
			err, -ENOENT,
			"%s: no recording there, nor a folder with several of them; make one "
			"with 'rooflinectl record -- PROGRAM'",
			folder);
	return 0;
}

int compare_sides_add_repeats(struct sides *sides, const char *path, struct err *err)
{
	if (is_folder(path) && !recording_is_folder(path))
		return add_folder(sides, path, err);
	return sides_add_path(sides, path) < 0 ? err_set(err, -ENOMEM, "out of memory") : 0;
}

int compare_sides_add(struct sides *sides, const char *path, struct err *err)
{
	if (sides_add(sides, path) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	return compare_sides_add_repeats(sides, path, err);
}
