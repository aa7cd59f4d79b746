#include "base/paths.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/* The program's own path; where there is no /proc, as in a bare chroot, what it was started as tells. */
static int find_self(char self[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", self, PATH_MAX - 1);
	const char *started = (const char *)getauxval(AT_EXECFN);

	if (length >= 0) {
		self[length] = '\0';
		return 0;
	}
	return started && realpath(started, self) ? 0 : -ENOENT;
}

int path_resource(char *buffer, size_t size, const char *relative)
{
	char self[PATH_MAX];
	int rc = find_self(self);
	char *slash;

	if (rc < 0) {
		snprintf(buffer, size, "%s", relative);
		return rc;
	}
	for (int i = 0; i < 2; i++) { /* drop /rooflinectl, then /bin */
		slash = strrchr(self, '/');
		if (slash)
			*slash = '\0';
	}
	if ((size_t)snprintf(buffer, size, "%s/%s", self, relative) >= size)
		return -ENAMETOOLONG;
	return access(buffer, F_OK) == 0 ? 0 : -ENOENT;
}

int path_open_file(int *fd, const char *path)
{
	struct stat status;
	int rc = 0;

	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe would wait for a writer */
	if (*fd < 0)
		return -errno;
	if (fstat(*fd, &status) < 0)
		rc = -errno;
	else if (!S_ISREG(status.st_mode))
		rc = S_ISDIR(status.st_mode) ? -EISDIR : -EINVAL;
	if (rc < 0) {
		close(*fd);
		*fd = -1;
	}
	return rc;
}

const char *path_problem(int rc)
{
	return rc == -EINVAL ? "it is no file, but a device or a pipe" : strerror(-rc);
}

int path_make_parents(char *path, size_t from)
{
	for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0777) < 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return 0;
}

bool path_has_suffix(const char *path, const char *suffix)
{
	size_t length = strlen(path), suffix_length = strlen(suffix);

	return length > suffix_length && !strcmp(path + length - suffix_length, suffix);
}

static bool is_packed(const char *path)
{
	return path_has_suffix(path, PATH_PACKED_SUFFIX);
}

/* Modification time of a packed recording, of a folder's process.csv, or of the newest one a level below; 0 when
 * none; -ENOMEM. */
static time_t recording_time(const char *folder, int levels)
{
	char path[PATH_MAX];
	struct stat status;
	struct dirent *entry;
	time_t newest = 0;
	DIR *dir;

	if (is_packed(folder)) /* below another folder it is not part of a recording */
		return levels > 0 && stat(folder, &status) == 0 && S_ISREG(status.st_mode)
			       ? status.st_mtime
			       : 0;
	if ((size_t)snprintf(path, sizeof(path), "%s/process.csv", folder) < sizeof(path) &&
	    stat(path, &status) == 0)
		return status.st_mtime;
	if (levels == 0 || !(dir = opendir(folder)))
		return levels && errno == ENOMEM ? -ENOMEM : 0;
	while (newest >= 0 && (entry = readdir(dir))) {
		time_t time;

		if (entry->d_name[0] == '.' || (size_t)snprintf(path, sizeof(path), "%s/%s", folder,
								entry->d_name) >= sizeof(path))
			continue;
		time = recording_time(path, levels - 1);
		if (time > newest || time == -ENOMEM)
			newest = time;
	}
	closedir(dir);
	return newest;
}

int path_newest_recording(char *buffer, size_t size, const char *folder)
{
	struct dirent *entry;
	time_t newest = 0;
	DIR *dir = opendir(folder);

	if (!dir)
		return errno == ENOMEM ? -ENOMEM : -ENOENT;
	while (newest >= 0 && (entry = readdir(dir))) {
		char path[PATH_MAX];
		time_t time;

		if (entry->d_name[0] == '.' || (size_t)snprintf(path, sizeof(path), "%s/%s", folder,
								entry->d_name) >= sizeof(path))
			continue;
		time = recording_time(path, 1);
		if (time == -ENOMEM) {
			newest = time;
		} else if (time > newest && strlen(path) < size) {
			newest = time;
			memcpy(buffer, path, strlen(path) + 1);
		}
	}
	closedir(dir);
	return newest > 0 ? 0 : newest ? -ENOMEM : -ENOENT;
}

const char *path_named(const char *recording)
{
	return strcmp(recording, "-") ? recording : "RECORDING_FROM_STDIN";
}
