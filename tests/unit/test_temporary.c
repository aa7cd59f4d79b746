/* Files and folders of a while: a signal that comes while one is made finds it as well. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/temporary.h"

/* ---- in place of the C library's: the signal comes when the name is there and nobody knows it yet ---- */

static int signal_while_made;

char *mkdtemp(char *path)
{
	char *(*made)(char *) = (char *(*)(char *))dlsym(RTLD_NEXT, "mkdtemp");
	char *result = made(path);

	if (signal_while_made)
		raise(signal_while_made);
	return result;
}

int mkostemp(char *path, int flags)
{
	int (*made)(char *, int) = (int (*)(char *, int))dlsym(RTLD_NEXT, "mkostemp");
	int result = made(path, flags);

	if (signal_while_made)
		raise(signal_while_made);
	return result;
}

/* ---- a folder that the test looks into ---- */

static char parent[64];

static int set_up(void **state)
{
	(void)state;
	strcpy(parent, "/tmp/test_temporary.XXXXXX");
	return mkdtemp(parent) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	return rmdir(parent);
}

static int count_entries(void)
{
	DIR *folder = opendir(parent);
	struct dirent *entry;
	int count = 0;

	while ((entry = readdir(folder)))
		count += entry->d_name[0] != '.';
	closedir(folder);
	return count;
}

/* By which signal a child ends that makes one, while that comes; 0: by none. */
static int end_of(int (*make)(char *path), int number)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		char path[128];

		snprintf(path, sizeof(path), "%s/XXXXXX", parent);
		signal(number, SIG_DFL);
		signal_while_made = number;
		make(path);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static int make_nameless(char *path)
{
	(void)path;
	return temporary_make_nameless(parent);
}

static void test_signals(void **state)
{
	static int (*const makers[])(char *) = {temporary_make_folder, temporary_make_file,
						make_nameless};
	static const int signals[] = {SIGHUP, SIGINT, SIGTERM};

	(void)state;
	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
		for (size_t j = 0; j < sizeof(signals) / sizeof(signals[0]); j++) {
			assert_int_equal(end_of(makers[i], signals[j]), signals[j]);
			assert_int_equal(count_entries(), 0);
		}
}

static void test_kept(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/XXXXXX", parent);
	assert_int_equal(temporary_make_folder(path), 0);
	assert_int_equal(count_entries(), 1);
	temporary_remove(path);
	assert_int_equal(count_entries(), 0);
	snprintf(path, sizeof(path), "%s/none/XXXXXX", parent);
	assert_int_equal(temporary_make_file(path), -ENOENT);
	snprintf(path, sizeof(path), "%s/none/XXXXXX", parent);
	assert_int_equal(temporary_make_folder(path), -ENOENT);
}

/* Deeper than any path may be long, and than a process may have files open. */
static void make_deep(const char *path, int levels)
{
	int folder = open(path, O_RDONLY | O_DIRECTORY);

	for (int i = 0; i < levels; i++) {
		int child;

		assert_int_equal(mkdirat(folder, "level", 0700), 0);
		assert_int_equal(mkdirat(folder, ".lifted1", 0700), 0); /* taken */
		assert_int_equal(symlinkat("/etc", folder, "link"), 0);
		child = openat(folder, "level", O_RDONLY | O_DIRECTORY);
		close(openat(child, "file", O_WRONLY | O_CREAT, 0600));
		assert_true(child >= 0);
		close(folder);
		folder = child;
	}
	close(folder);
}

static void test_depth(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/XXXXXX", parent);
	assert_int_equal(temporary_make_folder(path), 0);
	make_deep(path, 2000);
	temporary_remove(path);
	assert_int_equal(count_entries(), 0);
}

static void test_nameless(void **state)
{
	int fd = temporary_make_nameless(parent);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(count_entries(), 0);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	assert_int_equal(temporary_make_nameless("/nonexistent"), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"a signal that comes while one is made leaves nothing behind, and ends the process",
		 test_signals, set_up, tear_down, NULL},
		{"what was made is there until it is removed, and a failure is told", test_kept,
		 set_up, tear_down, NULL},
		{"a folder of any depth is removed", test_depth, set_up, tear_down, NULL},
		{"a file without a name can be written, and no signal finds a name", test_nameless,
		 set_up, tear_down, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
