/*
 * libodd_disk.c - preloaded, it makes writes to a recording's kernels.csv odd, or to the table ODD_TABLE.
 *
 * ODD_DISK=nothing  write() returns 0, as a file system in user space may
 * ODD_DISK=slow     write() takes as long as there is a file called timing in the current folder, 20 s at most, and says so
 *                   in a file called held
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_odd_table(int descriptor)
{
	const char *table = getenv("ODD_TABLE");
	char link[64], path[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/thread-self/fd/%d", descriptor);
	length = readlink(link, path, sizeof(path) - 1);
	if (length < 0)
		return 0;
	path[length] = '\0';
	return strstr(path, table ? table : "/kernels.csv") != NULL;
}

static void hold(void)
{
	int file;

	if (access("timing", F_OK))
		return;
	file = open("held", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (file >= 0) {
		syscall(SYS_write, file, "\n", 1);
		close(file);
	}
	for (int ms = 0; ms < 20000 && !access("timing", F_OK); ms++)
		usleep(1000);
}

ssize_t write(int descriptor, const void *bytes, size_t length)
{
	const char *oddity = getenv("ODD_DISK");

	if (oddity && is_odd_table(descriptor)) {
		if (!strcmp(oddity, "nothing"))
			return 0;
		hold();
	}
	return syscall(SYS_write, descriptor, bytes, length);
}
