/* import.c - rooflinectl import: a recording of what other tools recorded. */
#include "cmd/commands.h"
#include "cmd/progress.h"
#include "cmd/usage.h"

#include "base/array.h"
#include "base/format.h"
#include "base/shell.h"
#include "exchange/import/imports.h"

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

struct import_arguments {
	char **paths;
	size_t capacity, count;
	const char *folder;
};

enum { KEY_NCU_METRICS = 256 };

/* For ncu --metrics, separated by commas; each once. */
static void print_ncu_metrics(void)
{
	char *metrics = imports_ncu_metrics();

	if (metrics)
		puts(metrics);
	free(metrics);
}

/* What argp is told of memory it tells as a wrong argument. */
static void add_path(struct import_arguments *arguments, char *path, const struct argp_state *state)
{
	char **place = ARRAY_NEXT(arguments->paths, arguments->capacity, arguments->count);

	if (!place) {
		fprintf(stderr, "%s: out of memory\n", state->name);
		exit(EXIT_FAILED);
	}
	*place = path;
	arguments->count++;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct import_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		usage_init(state);
		return 0;
	case KEY_NCU_METRICS:
		print_ncu_metrics();
		exit(EXIT_OK);
	case 'o':
		if (!*argument)
			usage_fail(state, "-o wants a name, not ''");
		arguments->folder = argument;
		return 0;
	case ARGP_KEY_ARG:
		add_path(arguments, argument, state);
		return 0;
	case ARGP_KEY_END:
		if (!arguments->count)
			usage_fail(state, "which file?");
		if (!arguments->folder)
			usage_fail(state, "-o wants the folder of the recording to make");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option option_table[] = {
	{"output", 'o', "DIR", 0, "the recording to make: a folder that is not there yet", 0},
	{"ncu-metrics", KEY_NCU_METRICS, NULL, 0,
	 "print what 'ncu --metrics' has to count for a report, and end", 0},
	{0},
};

/* "  Nsight Systems: nsys export --type sqlite" on a line each. */
#define IMPORT_LINE(name, title) "\n  " title

static const struct argp parser = {
	.options = option_table,
	.parser = parse_option,
	.args_doc = "FILE... -o DIR",
	.doc = "Make a recording of what other tools recorded, which every command reads.\n\n"
	       "Several files are several processes of one run. FILE is of:" IMPORTS(IMPORT_LINE),
};

static void tell_what_is_next(const struct import_arguments *arguments)
{
	printf("%s: a recording of %zu file%s; read it with: rooflinectl report ",
	       format_path(arguments->folder).text, arguments->count,
	       arguments->count == 1 ? "" : "s");
	shell_put_path(stdout, arguments->folder);
	putchar('\n');
}

int cmd_import(int argc, char **argv)
{
	struct import_arguments arguments = {0};
	struct progress progress;
	struct err err = {""};
	int rc;

	if (usage_parse(&parser, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	signal(SIGXFSZ, SIG_IGN); /* a limit of file sizes is a failure to tell of */
	progress_begin(&progress, "importing");
	rc = imports_make(arguments.folder, arguments.paths, arguments.count, &err);
	progress_end(&progress);
	if (rc < 0)
		fprintf(stderr, "rooflinectl import: %s\n", err.text);
	else
		tell_what_is_next(&arguments);
	free(arguments.paths);
	return rc < 0 ? EXIT_FAILED : EXIT_OK;
}
