#define _GNU_SOURCE /* syscall, mkostemp */
#include "base/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What the handler reads: a path is whole before is_used says so. */
static struct {
	atomic_bool is_used;
	char path[PATH_MAX];
} all[TEMPORARY_MOST];
static pid_t owner; /* a forked child that a signal ends has none */

/* ---- removing, also from within a signal's handler: opendir would take memory ---- */

/* Moves a folder up to the top under a name of its own, so that no depth takes memory, descriptors or a long path. */
static bool lift(int folder, const char *name, int top)
{
	static unsigned number; /* a name that another thread took is tried and passed over */
	char digits[sizeof(".lifted") + 3 * sizeof(number)] = ".lifted";

	for (int attempt = 0; attempt < 1000; attempt++) {
		char *end = digits + strlen(".lifted");

		for (unsigned left = ++number; left; left /= 10)
			*end++ = (char)('0' + left % 10);
		*end = '\0';
		if (renameat(folder, name, top, digits) == 0)
			return true;
		if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR)
			return false;
	}
	return false;
}

static size_t remove_entries(int folder, int top);

/* Returns whether the entry is no longer there, or there is less in it. */
static bool remove_entry(int folder, const char *name, int top)
{
	size_t count;
	int child;

	if (unlinkat(folder, name, 0) == 0 || unlinkat(folder, name, AT_REMOVEDIR) == 0)
		return true;
	if (folder != top)
		return lift(folder, name, top);
	child = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (child < 0)
		return false;
	count = remove_entries(child, top);
	close(child);
	return unlinkat(folder, name, AT_REMOVEDIR) == 0 || count;
}

/* Returns how many entries changed. */
static size_t remove_entries(int folder, int top)
{
	_Alignas(struct dirent64) char buffer[4096];
	size_t count = 0;
	long length;

	while ((length = syscall(SYS_getdents64, folder, buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < length;) {
			const struct dirent64 *entry = (const void *)(buffer + at);

			if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
				count += remove_entry(folder, entry->d_name, top);
			at += entry->d_reclen;
		}
	return count;
}

static void remove_path(const char *path)
{
	int top;

	if (unlink(path) == 0)
		return;
	top = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (top < 0)
		return;
	while (remove_entries(top, top)) /* what was lifted may come behind where this has been */
		lseek(top, 0, SEEK_SET);
	close(top);
	rmdir(path);
}

static void remove_all(void)
{
	for (size_t i = 0; getpid() == owner && i < TEMPORARY_MOST; i++)
		if (atomic_load(&all[i].is_used))
			remove_path(all[i].path);
}

static void remove_and_end(int number)
{
	remove_all();
	signal(number, SIG_DFL);
	raise(number);
}

/* ---- keeping ---- */

/* Not where it is ignored, as nohup does, or handled already. */
static void handle(int number)
{
	struct sigaction action = {.sa_handler = remove_and_end}, before;

	sigemptyset(&action.sa_mask);
	if (sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
		sigaction(number, &action, NULL);
}

static void add(const char *path)
{
	size_t free_one = 0;

	while (free_one < TEMPORARY_MOST && atomic_load(&all[free_one].is_used))
		free_one++;
	if (free_one == TEMPORARY_MOST || strlen(path) >= PATH_MAX)
		return;
	strcpy(all[free_one].path, path);
	if (!owner)
		atexit(remove_all); /* a library that finds no memory may end the process */
	owner = getpid();
	atomic_store(&all[free_one].is_used, true);
	handle(SIGHUP);
	handle(SIGINT);
	handle(SIGTERM);
}

/* ---- making: signals wait meanwhile, so that nothing is there that is not kept ---- */

static int make_file(char *path)
{
	return mkostemp(path, O_CLOEXEC);
}

static int make_folder(char *path)
{
	return mkdtemp(path) ? 0 : -1;
}

static int make(int (*function)(char *path), char *path)
{
	sigset_t ours, before;
	int made;

	sigemptyset(&ours);
	sigaddset(&ours, SIGHUP);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &ours, &before);
	made = function(path);
	if (made < 0)
		made = -errno;
	else
		add(path);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return made;
}

int temporary_make_folder(char *path)
{
	return make(make_folder, path);
}

int temporary_make_file(char *path)
{
	return make(make_file, path);
}

const char *temporary_parent(void)
{
	const char *parent = getenv("TMPDIR");

	return parent && *parent ? parent : "/tmp";
}

int temporary_make_work_folder(char *folder, size_t size, struct err *err)
{
	const char *parent = temporary_parent();
	int rc = -ENAMETOOLONG;

	if ((size_t)snprintf(folder, size, "%s/rooflinectl-XXXXXX", parent) < size)
		rc = temporary_make_folder(folder);
	if (rc == 0)
		return 0;
	folder[0] = '\0';
	if (rc == -ENAMETOOLONG)
		return err_set(err, rc, "%s: TMPDIR is too long", parent);
	return err_set(err, rc, "%s: cannot make a folder: %s; set TMPDIR to one with space",
		       parent, strerror(-rc));
}

int temporary_make_nameless(const char *folder)
{
	char path[PATH_MAX];
	int fd;

	if ((size_t)snprintf(path, sizeof(path), "%s/rooflinectl-XXXXXX", folder) >= sizeof(path))
		return -ENAMETOOLONG;
	fd = temporary_make_file(path);
	if (fd >= 0)
		temporary_remove(path);
	return fd;
}

void temporary_forget(const char *path)
{
	for (size_t i = 0; i < TEMPORARY_MOST; i++)
		if (atomic_load(&all[i].is_used) && !strcmp(all[i].path, path))
			atomic_store(&all[i].is_used, false);
}

void temporary_remove(const char *path)
{
	if (*path)
		remove_path(path);
	temporary_forget(path);
}
