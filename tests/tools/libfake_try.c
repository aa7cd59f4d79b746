/*
 * libfake_try.c - stands in for librooflinetry.so where there is no GPU: writes what a test says that it reached.
 *
 * FAKE_TRY_MEMORY: lines of what memory of the GPU contained, with _ for a space; FAKE_TRY_WATCHED_MEMORY: those without a strategy.
 * FAKE_TRY_ROWS: lines of `name,value`, with spaces between them in place of line ends; FAKE_TRY_WATCHED: those of a run
 * without a strategy, of which only the time is taken.  Only a process whose name is FAKE_TRY_PROCESS writes
 * them, where that is set: a shell starts others.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "roofline/try.h"

#define VARIABLE_NAME(constant, name, meaning) [constant] = name,
static const char *const variable_names[] = {TRY_VARIABLES(VARIABLE_NAME)};

static int is_meant(void)
{
	const char *process = getenv("FAKE_TRY_PROCESS");

	return getenv(variable_names[TRY_ENV_OUTPUT]) &&
	       (!process || !strcmp(process, program_invocation_short_name));
}

/* Lines into a file of this process. */
static void write_lines(enum try_variable variable, const char *head, const char *lines)
{
	char path[4096];
	FILE *file;

	if (!lines || !getenv(variable_names[variable]))
		return;
	snprintf(path, sizeof(path), "%s.%d", getenv(variable_names[variable]), (int)getpid());
	file = fopen(path, "we");
	if (!file)
		return;
	fputs(head, file);
	for (; *lines; lines++)
		fputc(*lines == ' ' ? '\n' : *lines == '_' && !*head ? ' ' : *lines, file);
	fputc('\n', file);
	fclose(file);
}

__attribute__((destructor)) static void write_rows(void)
{
	int is_watched = getenv(variable_names[TRY_ENV_WATCH]) != NULL;

	if (!is_meant())
		return;
	write_lines(TRY_ENV_OUTPUT, "name,value\n",
		    getenv(is_watched ? "FAKE_TRY_WATCHED" : "FAKE_TRY_ROWS"));
	write_lines(TRY_ENV_MEMORY, "",
		    getenv(is_watched ? "FAKE_TRY_WATCHED_MEMORY" : "FAKE_TRY_MEMORY"));
}
