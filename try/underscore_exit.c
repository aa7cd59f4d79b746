/*
 * underscore_exit.c - what was put off is done, and the counts are complete, also when a program ends with _exit.
 */
#define _GNU_SOURCE
#include <stdnoreturn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT noreturn void _exit(int status);
EXPORT noreturn void _exit(int status)
{
	process_end();
	for (;;)
		syscall(SYS_exit_group, status);
}

EXPORT noreturn void _Exit(int status);
EXPORT noreturn void _Exit(int status)
{
	_exit(status);
}
