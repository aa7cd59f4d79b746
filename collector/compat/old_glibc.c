/*
 * old_glibc.c - functions that glibc 2.17 does not have under these names, for this library alone (old_glibc.h).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's structure is the C library's, on machines of 64 bits. */
int fstatat(int folder, const char *restrict path, struct stat *restrict status, int flags)
{
	return (int)syscall(SYS_newfstatat, folder, path, status, flags);
}

int fstat(int descriptor, struct stat *status)
{
	return (int)syscall(SYS_fstat, descriptor, status);
}

int stat(const char *restrict path, struct stat *restrict status)
{
	return fstatat(AT_FDCWD, path, status, 0);
}

int lstat(const char *restrict path, struct stat *restrict status)
{
	return fstatat(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}

pid_t gettid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

ssize_t getrandom(void *bytes, size_t size, unsigned int flags)
{
	return syscall(SYS_getrandom, bytes, size, flags);
}
