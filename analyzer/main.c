/* main.c - dispatch only: the commands live in cmd/, one file each. */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "cmd/commands.h"
#include "cmd/pager.h"
#include "cmd/usage.h"

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
	fputs("\nrooflinectl help COMMAND tells more.\n", out);
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

/* Those that answer with a report; others show what they do while they do it. */
static bool has_report(const char *name)
{
	static const char *const names[] = {"report", "advise", "whatif",
					    "scale",  "verify", "compare"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static bool is_pager_wanted = true;

/* "rooflinectl help report" is "rooflinectl report --help". */
static int run(const struct command *command, int argc, char **argv)
{
	argv[0] = (char *)command->title;
	if (is_pager_wanted && has_report(command->name))
		pager_open();
	return finish(command->title, command->run(argc, argv));
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < command_count; i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	return NULL;
}

/* What other tools call them. */
static const char *known_elsewhere(const char *name)
{
	static const struct {
		const char *elsewhere, *here;
	} names[] = {{"diff", "compare"},      {"stats", "report"},   {"stat", "report"},
		     {"analyse", "analyze"},   {"profile", "record"}, {"launch", "record"},
		     {"trace", "record"},      {"convert", "export"}, {"view", "report --html"},
		     {"version", "--version"}, {"-v", "--version"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i].elsewhere))
			return names[i].here;
	return NULL;
}

static int fail_command(const char *name)
{
	const char *here = known_elsewhere(name);
	char shown[256];

	if (here) {
		fprintf(stderr,
			"rooflinectl: no command '%s', did you mean '%s'?; see rooflinectl --help\n",
			name, here);
		return EXIT_USAGE;
	}

	(void)format_text(shown, sizeof(shown), name, sizeof(shown));
#define COMMAND_NAME(command, summary) " " #command
	fprintf(stderr, "rooflinectl: no command '%s'%s; see rooflinectl --help\n", shown,
		usage_suggest(name, *name == '-' ? " --help --version --no-pager"
						 : COMMANDS(COMMAND_NAME))
			.text);
#undef COMMAND_NAME
	return EXIT_USAGE;
}

static int help_of(const char *name)
{
	char help[] = "--help", *argv[] = {NULL, help, NULL};
	const struct command *command = find(name);

	return command ? run(command, 2, argv) : fail_command(name);
}

/* Arrays of a recording go back to the system when they are freed, not only where they are larger than the largest that
 * was freed before: 5% of the memory of a report of 2 million operations. */
static void return_large_memory(void)
{
#ifdef M_MMAP_THRESHOLD
	(void)mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

int main(int argc, char **argv)
{
	const struct command *command;

	return_large_memory();
	(void)signal(SIGXFSZ, keep_on);
	if (argc > 1 && !strcmp(argv[1], "--no-pager")) {
		is_pager_wanted = false;
		argc--;
		argv++;
	}
	if (argc < 2) {
		fputs("rooflinectl: which command? see rooflinectl --help\n", stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "help") && argc > 2)
		return help_of(argv[2]);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		print_help(stdout);
		return finish("rooflinectl", EXIT_OK);
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts(*ROOFLINE_COMMIT ? "rooflinectl " ROOFLINE_VERSION " (" ROOFLINE_COMMIT ")"
				      : "rooflinectl " ROOFLINE_VERSION);
		return finish("rooflinectl", EXIT_OK);
	}
	command = find(argv[1]);
	return command ? run(command, argc - 1, argv + 1) : fail_command(argv[1]);
}
