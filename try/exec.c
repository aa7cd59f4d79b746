/*
 * exec.c - what was put off is done before the process becomes another program.
 *
 * The kernel ends all that the program has on the GPU then, and the C library's functions call each other by names that no
 * other library can take: each has one of ours.  All go on to execve, execvpe, fexecve or execveat.  In the child of a vfork
 * nothing is done (process.c), and no memory is taken.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include "driver.h"
#include "process.h"

#define EXPORT __attribute__((visibility("default")))

static __typeof__(execve) *next_execve;
static __typeof__(execvpe) *next_execvpe;
static __typeof__(fexecve) *next_fexecve;
static __typeof__(execveat) *next_execveat;

/* At the start: in a signal handler, or in the child of a fork, dlsym must not be called.  Libraries of the program start before
 * this one, and may make the program begin anew: then it is called there. */
__attribute__((constructor)) static void find_next(void)
{
	next_execve = (__typeof__(next_execve))driver_dlsym(RTLD_NEXT, "execve");
	next_execvpe = (__typeof__(next_execvpe))driver_dlsym(RTLD_NEXT, "execvpe");
	next_fexecve = (__typeof__(next_fexecve))driver_dlsym(RTLD_NEXT, "fexecve");
	next_execveat = (__typeof__(next_execveat))driver_dlsym(RTLD_NEXT, "execveat");
}

static void before_exec(void)
{
	if (!next_execve)
		find_next();
	process_before_exec();
}

static int fail(void)
{
	errno = ENOSYS;
	return -1;
}

EXPORT int execve(const char *path, char *const words[], char *const variables[])
{
	before_exec();
	return next_execve ? next_execve(path, words, variables) : fail();
}

EXPORT int execvpe(const char *name, char *const words[], char *const variables[])
{
	before_exec();
	return next_execvpe ? next_execvpe(name, words, variables) : fail();
}

EXPORT int fexecve(int file, char *const words[], char *const variables[])
{
	before_exec();
	return next_fexecve ? next_fexecve(file, words, variables) : fail();
}

EXPORT int execveat(int folder, const char *path, char *const words[], char *const variables[],
		    int flags)
{
	before_exec();
	return next_execveat ? next_execveat(folder, path, words, variables, flags) : fail();
}

EXPORT int execv(const char *path, char *const words[])
{
	return execve(path, words, environ);
}

EXPORT int execvp(const char *name, char *const words[])
{
	return execvpe(name, words, environ);
}

/* ---- words as arguments ---- */

/* Of those behind the first one, with the NULL that ends them. */
static size_t count_words(va_list rest)
{
	size_t count = 1;

	while (va_arg(rest, const char *))
		count++;
	return count;
}

static void fill_words(char **words, const char *first, size_t count, va_list rest)
{
	words[0] = (char *)first;
	for (size_t i = 1; i <= count; i++)
		words[i] = va_arg(rest, char *);
}

/* Declares words of so many arguments behind first; then the arguments of rest are read. */
#define TAKE_WORDS(words, first, rest)                                       \
	va_start(rest, first);                                               \
	count = count_words(rest);                                           \
	va_end(rest);                                                        \
	(words) = (char **)__builtin_alloca((count + 1) * sizeof(*(words))); \
	va_start(rest, first);                                               \
	fill_words(words, first, count, rest)

EXPORT int execl(const char *path, const char *first, ...)
{
	va_list rest;
	size_t count;
	char **words;

	TAKE_WORDS(words, first, rest);
	va_end(rest);
	return execve(path, words, environ);
}

EXPORT int execlp(const char *name, const char *first, ...)
{
	va_list rest;
	size_t count;
	char **words;

	TAKE_WORDS(words, first, rest);
	va_end(rest);
	return execvpe(name, words, environ);
}

EXPORT int execle(const char *path, const char *first, ...)
{
	char *const *variables;
	va_list rest;
	size_t count;
	char **words;

	TAKE_WORDS(words, first, rest);
	variables = va_arg(rest, char *const *);
	va_end(rest);
	return execve(path, words, variables);
}
