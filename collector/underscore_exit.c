/*
 * underscore_exit.c - the recording is complete also when a program ends with _exit.
 *
 * _exit runs no handlers, and Python's worker processes end with it.  Under LD_PRELOAD these stand in
 * front of the C library's and end the process as those do; loaded by CUDA alone they are never
 * called, and what was not flushed yet is missing.
 */
#define _GNU_SOURCE
#include <stdnoreturn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT noreturn void _exit(int status);
EXPORT noreturn void _exit(int status)
{
	inject_flush_at_exit();
	for (;;)
		syscall(SYS_exit_group, status);
}

EXPORT noreturn void _Exit(int status);
EXPORT noreturn void _Exit(int status)
{
	_exit(status);
}
