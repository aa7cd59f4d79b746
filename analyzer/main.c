/* main.c - dispatch only: the commands live in cmd/, one file each. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "cmd/commands.h"

struct command {
	const char *name, *title, *summary;
	int (*run)(int argc, char **argv);
};

#define COMMAND_ROW(name, summary) {#name, "rooflinectl " #name, summary, cmd_##name},
static const struct command commands[] = {COMMANDS(COMMAND_ROW)};
#undef COMMAND_ROW

static const size_t command_count = sizeof(commands) / sizeof(commands[0]);

static void print_help(FILE *out)
{
	fputs("Usage: rooflinectl COMMAND [OPTION...]\n"
	      "Why is the GPU idle or slow, and what would fix it.\n\n",
	      out);
	for (size_t i = 0; i < command_count; i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fputs("\nrooflinectl COMMAND --help tells more.\n", out);
}

/* What did not reach stdout, on a full disk, is a failure even where nobody looked.  Some file systems tell when it is
 * closed; one that was closed before is none where nothing was written. */
static int finish(const char *title, int code)
{
	bool has_failed = fflush(stdout) || ferror(stdout);

	if (!has_failed)
		has_failed = fclose(stdout) && errno != EBADF;
	if (has_failed && code != EXIT_FAILED && code != EXIT_USAGE) {
		fprintf(stderr, "%s: cannot write to stdout: %s\n", title, strerror(errno));
		return EXIT_FAILED;
	}
	return code;
}

/* A file that grows beyond the limit (ulimit -f) is an error of writing like a full disk, and not the end.  A handler,
 * unlike ignoring the signal, is not handed on to the programs that we start. */
static void keep_on(int number)
{
	(void)number;
}

int main(int argc, char **argv)
{
	char shown[256];

	(void)signal(SIGXFSZ, keep_on);
	if (argc < 2) {
		fputs("rooflinectl: which command? see rooflinectl --help\n", stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		print_help(stdout);
		return finish("rooflinectl", EXIT_OK);
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("rooflinectl " ROOFLINE_VERSION);
		return finish("rooflinectl", EXIT_OK);
	}
	for (size_t i = 0; i < command_count; i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		argv[1] = (char *)commands[i].title;
		return finish(commands[i].title, commands[i].run(argc - 1, argv + 1));
	}
	(void)format_text(shown, sizeof(shown), argv[1], sizeof(shown));
	fprintf(stderr, "rooflinectl: no command '%s'; see rooflinectl --help\n", shown);
	return EXIT_USAGE;
}
