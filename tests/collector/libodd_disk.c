/*
 * libodd_disk.c - preloaded, it makes writes to a recording's kernels.csv odd, or to the table ODD_TABLE.
 *
 * ODD_DISK=nothing  write() returns 0, as a file system in user space may
 * ODD_DISK=slow     write() takes two seconds
 */
#define _GNU_SOURCE
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

ssize_t write(int descriptor, const void *bytes, size_t length)
{
	const char *oddity = getenv("ODD_DISK");

	if (oddity && is_odd_table(descriptor)) {
		if (!strcmp(oddity, "nothing"))
			return 0;
		sleep(2);
	}
	return syscall(SYS_write, descriptor, bytes, length);
}
