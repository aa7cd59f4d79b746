/* scratch.c - the folder that targets write to, and commands run as main() runs them. */
#include "targets.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/new_file.h"
#include "base/temporary.h"

static char folder[PATH_MAX / 2];
static pid_t owner;

static void remove_folder(void)
{
	if (getpid() == owner) /* a child that ends is not the end */
		temporary_remove(folder);
}

static void stop(const char *what)
{
	perror(what);
	abort();
}

const char *fuzz_folder(void)
{
	const char *parent = getenv("TMPDIR");

	if (*folder)
		return folder;
	snprintf(folder, sizeof(folder), "%s/rooflinectl-fuzz-XXXXXX", parent ? parent : "/tmp");
	if (!mkdtemp(folder))
		stop(folder);
	owner = getpid();
	atexit(remove_folder);
	return folder;
}

const char *fuzz_file(const char *name, const uint8_t *bytes, size_t size)
{
	static char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", fuzz_folder(), name);
	file = fopen(path, "we");
	if (!file || (size && fwrite(bytes, size, 1, file) != 1) || fclose(file))
		stop(path);
	return path;
}

void fuzz_command(int (*command)(int argc, char **argv), ...)
{
	char *argv[FUZZ_ARGUMENTS + 2] = {strdup("rooflinectl")};
	const char *argument;
	int argc = 1;
	va_list arguments;

	va_start(arguments, command);
	while (argc <= FUZZ_ARGUMENTS && (argument = va_arg(arguments, const char *)))
		argv[argc++] = strdup(argument); /* a command may write into them */
	va_end(arguments);
	(void)command(argc, argv);
	fflush(stdout);
	while (argc > 0)
		free(argv[--argc]);
}
