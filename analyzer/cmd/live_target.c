/*
 * live_target.c - finds the recording of a process by what it was started with: /proc tells that to its owner alone, and
 * nothing is left behind that could be out of date.
 */
#define _GNU_SOURCE
#include "cmd/live_target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "cmd/record_options.h"

#define ENVIRONMENT_MOST (1 << 21) /* more than exec takes */

/* ---- a process ---- */

static ssize_t read_proc(int pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t length, used = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((length = read(fd, text + used, size - 1 - (size_t)used)) > 0)
		used += length;
	close(fd);
	text[used] = '\0';
	return length < 0 ? -errno : used;
}

/* The folder that the process was told to record into, or 0 bytes. */
static int output_of(int pid, char *folder, size_t size)
{
	char *environment = calloc(1, ENVIRONMENT_MOST);
	const char *name = record_variable_name(ENV_OUTPUT);
	size_t length = strlen(name);
	ssize_t count;

	folder[0] = '\0';
	if (!environment)
		return -ENOMEM;
	count = read_proc(pid, "environ", environment, ENVIRONMENT_MOST);
	for (const char *at = environment; count > 0 && at < environment + count;
	     at += strlen(at) + 1)
		if (!strncmp(at, name, length) && at[length] == '=')
			snprintf(folder, size, "%s", at + length + 1);
	free(environment);
	return count < 0 ? (int)count : 0;
}

/* record itself has the program as a child, which has what it was told. */
static bool output_of_children(int pid, char *folder, size_t size)
{
	char name[64], children[4096] = "", *end;

	snprintf(name, sizeof(name), "task/%d/children", pid);
	if (read_proc(pid, name, children, sizeof(children)) <= 0)
		return false;
	for (char *at = children; *at; at = *end ? end + 1 : end) {
		long child = strtol(at, &end, 10);

		if (end == at)
			break;
		if (output_of((int)child, folder, size) == 0 && *folder)
			return true;
	}
	return false;
}

static int find_by_process(struct live_target *target, int pid, bool *is_recorder, struct err *err)
{
	int rc = output_of(pid, target->folder, sizeof(target->folder));

	*is_recorder = false;
	if (rc == -ENOENT || rc == -ESRCH)
		return err_set(err, -ESRCH, "there is no process %d", pid);
	if (rc == -EACCES || rc == -EPERM)
		return err_set(err, rc, "process %d belongs to another user", pid);
	if (rc < 0)
		return err_set(err, rc, "process %d: %s", pid, strerror(-rc));
	if (*target->folder)
		return 0;
	*is_recorder = output_of_children(pid, target->folder, sizeof(target->folder));
	if (!*is_recorder)
		return err_set(err, -ENOENT,
			       "process %d is not recorded: 'rooflinectl record' starts programs "
			       "that are",
			       pid);
	return 0;
}

/* host.PID, or the newest of host.PID.2 and so on, which exec makes. */
static int choose_process(struct live_target *target, int pid, struct err *err)
{
	char ending[32], *found;

	snprintf(ending, sizeof(ending), ".%d", pid);
	for (size_t i = 0; i < target->recording.process_count; i++) {
		const char *name = target->recording.processes[i].name;

		for (found = strstr(name, ending); found; found = strstr(found + 1, ending))
			if (!found[strlen(ending)] || found[strlen(ending)] == '.')
				target->one = &target->recording.processes[i];
	}
	return target->one ? 0 : err_set(err, -ENODATA, "process %d has not used CUDA yet", pid);
}

/* ---- a folder ---- */

/* The newest ring in the folder of -o, if any. */
static void find_ring(struct live_target *target)
{
	char path[PATH_MAX], found[PATH_MAX] = "";
	struct timespec newest = {0};
	DIR *folder = opendir(target->folder);
	struct dirent *entry;
	struct stat status;

	while (folder && (entry = readdir(folder))) {
		if (strncmp(entry->d_name, LIVE_RING, strlen(LIVE_RING)) != 0 ||
		    (size_t)snprintf(path, sizeof(path), "%s/%s", target->folder, entry->d_name) >=
			    sizeof(path) ||
		    stat(path, &status) < 0)
			continue;
		if (!*found || status.st_mtim.tv_sec > newest.tv_sec) {
			newest = status.st_mtim;
			memcpy(found, path, sizeof(found));
		}
	}
	if (folder)
		closedir(folder);
	if (*found)
		memcpy(target->folder, found, sizeof(found));
}

int live_dumps_of(char *dumps, size_t size, const char *ring)
{
	char path[PATH_MAX + 32];
	ssize_t length;
	int fd, rc;

	dumps[0] = '\0';
	snprintf(path, sizeof(path), "%s/" LIVE_DUMPS, ring);
	rc = path_open_file(&fd, path);
	if (rc < 0)
		return rc;
	length = read(fd, dumps, size - 1);
	close(fd);
	dumps[length > 0 ? length : 0] = '\0';
	return *dumps ? 0 : -ENODATA;
}

static int check_owner(const char *folder, struct err *err)
{
	struct stat status;

	if (stat(folder, &status) < 0)
		return err_set(err, -errno, "%s: %s", folder, strerror(errno));
	if (status.st_uid != geteuid())
		return err_set(err, -EPERM, "%s: belongs to another user", folder);
	return 0;
}

static bool is_process_id(const char *text)
{
	return *text && strlen(text) < 10 && strspn(text, "0123456789") == strlen(text);
}

int live_target_find(struct live_target *target, const char *text, struct err *err)
{
	int pid = is_process_id(text) ? atoi(text) : 0, rc = 0;
	bool is_recorder = false;

	*target = (struct live_target){.recording = {.unpacked_fd = -1}};
	if (pid)
		rc = find_by_process(target, pid, &is_recorder, err);
	else
		snprintf(target->folder, sizeof(target->folder), "%s", text);
	if (rc == 0 && pid && access(target->folder, F_OK) < 0)
		rc = err_set(err, -ENODATA, "process %d has not used CUDA yet", pid);
	if (rc == 0)
		rc = check_owner(target->folder, err);
	if (rc == 0) {
		find_ring(target);
		rc = check_owner(target->folder, err); /* a link may lead to another's */
	}
	if (rc == 0) {
		(void)live_dumps_of(target->dumps, sizeof(target->dumps), target->folder);
		rc = recording_open(&target->recording, target->folder, err);
	}
	if (rc == 0 && !target->recording.process_count)
		rc = err_set(err, -ENODATA, "%s: nothing is being recorded there", text);
	return rc == 0 && pid && !is_recorder ? choose_process(target, pid, err) : rc;
}

void live_target_close(struct live_target *target)
{
	recording_close(&target->recording);
}

const struct recording_process *live_target_process(const struct live_target *target, size_t index)
{
	if (target->one)
		return index == 0 ? target->one : NULL;
	return index < target->recording.process_count ? &target->recording.processes[index] : NULL;
}
