/*
 * underscore_exit.c - what was put off is done, and the counts are complete, also when a program ends with _exit.
 *
 * The _exit behind ours is called then: it is the C library's, or that of another library that is preloaded, such as the
 * collector's, which seals its recording.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdnoreturn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "driver.h"
#include "process.h"

#define EXPORT __attribute__((visibility("default")))

static void (*next_exit)(int);

/* At the start: in a signal handler, or in the child of a fork, dlsym must not be called. */
__attribute__((constructor)) static void find_next_exit(void)
{
	next_exit = (__typeof__(next_exit))driver_dlsym(RTLD_NEXT, "_exit");
}

EXPORT noreturn void _exit(int status);
EXPORT noreturn void _exit(int status)
{
	process_end();
	if (next_exit)
		next_exit(status);
	for (;;)
		syscall(SYS_exit_group, status);
}

EXPORT noreturn void _Exit(int status);
EXPORT noreturn void _Exit(int status)
{
	_exit(status);
}
