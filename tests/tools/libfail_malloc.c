/*
 * libfail_malloc.c - preloaded: one allocation of the program finds no memory.
 *
 *	FAIL_AT=N LD_PRELOAD=libfail_malloc.so PROGRAM
 *
 * fails the N-th call of malloc, calloc or realloc that the program and its libraries make; with FAIL_FROM=N all from
 * the N-th on.  FAIL_COUNT=FILE: how many calls there were is written there at the end.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *(*next_malloc)(size_t size);
static void *(*next_calloc)(size_t count, size_t size);
static void *(*next_realloc)(void *memory, size_t size);
static atomic_ulong call_count;
static unsigned long failing_at, failing_from;
static pid_t counted_pid; /* children have other numbers of calls */

static unsigned long number_of(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void)
{
	failing_at = number_of("FAIL_AT");
	failing_from = number_of("FAIL_FROM");
	unsetenv("LD_PRELOAD"); /* programs that it starts are not meant */
	counted_pid = getpid();
	atomic_store(&call_count, 0);
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAIL_COUNT");
	unsigned long count = atomic_load(&call_count);
	FILE *file = path && getpid() == counted_pid ? fopen(path, "w") : NULL;

	if (!file)
		return;
	fprintf(file, "%lu\n", count);
	fclose(file);
}

static bool is_failing(void)
{
	unsigned long number = atomic_fetch_add(&call_count, 1) + 1;

	if (number != failing_at && (!failing_from || number < failing_from))
		return false;
	errno = ENOMEM;
	return true;
}

/* dlsym itself may call calloc, before there is one to hand on to; it can do without. */
static void *calloc_while_searching(size_t count, size_t size)
{
	static _Alignas(max_align_t) char room[4096];
	static size_t used;
	void *memory = room + used;

	used += (count * size + 15) / 16 * 16;
	return used <= sizeof(room) ? memory : NULL;
}

static void find_next(void)
{
	next_calloc = calloc_while_searching;
	next_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
	next_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
	next_calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
}

void *malloc(size_t size)
{
	if (!next_malloc)
		find_next();
	return is_failing() ? NULL : next_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	if (!next_calloc)
		find_next();
	return is_failing() ? NULL : next_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
	if (!next_realloc)
		find_next();
	return is_failing() ? NULL : next_realloc(memory, size);
}
