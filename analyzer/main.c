/* main.c - dispatch only: the commands live in cmd/, one file each. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/commands.h"

#ifndef ROOFLINE_COMMIT
#define ROOFLINE_COMMIT ""
#endif

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

/* What did not reach stdout, on a full disk, is a failure even where nobody looked. */
static int finish(const char *title, int code)
{
	if (code == EXIT_OK && (fflush(stdout) || ferror(stdout))) {
		fprintf(stderr, "%s: cannot write to stdout: %s\n", title, strerror(errno));
		return EXIT_FAILED;
	}
	return code;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fputs("rooflinectl: which command? see rooflinectl --help\n", stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		print_help(stdout);
		return finish("rooflinectl", EXIT_OK);
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts(*ROOFLINE_COMMIT ? "rooflinectl " ROOFLINE_VERSION " (" ROOFLINE_COMMIT ")"
				      : "rooflinectl " ROOFLINE_VERSION);
		return finish("rooflinectl", EXIT_OK);
	}
	for (size_t i = 0; i < command_count; i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		argv[1] = (char *)commands[i].title;
		return finish(commands[i].title, commands[i].run(argc - 1, argv + 1));
	}
	fprintf(stderr, "rooflinectl: no command '%s'; see rooflinectl --help\n", argv[1]);
	return EXIT_USAGE;
}
