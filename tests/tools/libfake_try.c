/*
 * libfake_try.c - stands in for librooflinetry.so where there is no GPU: writes what a test says that it reached.
 *
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

__attribute__((destructor)) static void write_rows(void)
{
	const char *rows = getenv(getenv(variable_names[TRY_ENV_WATCH]) ? "FAKE_TRY_WATCHED"
									: "FAKE_TRY_ROWS");
	char path[4096];
	FILE *file;

	if (!rows || !is_meant())
		return;
	snprintf(path, sizeof(path), "%s.%d", getenv(variable_names[TRY_ENV_OUTPUT]),
		 (int)getpid());
	file = fopen(path, "we");
	if (!file)
		return;
	fputs("name,value\n", file);
	for (; *rows; rows++)
		fputc(*rows == ' ' ? '\n' : *rows, file);
	fputc('\n', file);
	fclose(file);
}
