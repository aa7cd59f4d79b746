/* export.c - rooflinectl export: a recording in the formats of other tools. */
#include "cmd/commands.h"
#include "cmd/progress.h"
#include "cmd/source.h"
#include "cmd/usage.h"

#include "base/new_file.h"
#include "exchange/export/exports.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct export_arguments {
	struct source source;
	export_function format;
	const char *path;
};

static const struct argp_option option_table[] = {
	{"format", 'f', "FORMAT", 0,
	 "one of" EXPORT_NAMES "; without it the one that FILE's suffix tells", 0},
	{"output", 'o', "FILE", 0, "the file to write; - is stdout", 0},
	{0},
};

static void check_arguments(struct export_arguments *arguments, struct argp_state *state)
{
	if (!arguments->path)
		usage_fail(state, "-o wants the file to write");
	if (!arguments->format)
		arguments->format = exports_of_file(arguments->path);
	if (!arguments->format)
		usage_fail(state, "which --format has '%s'? There are:" EXPORT_NAMES,
			   arguments->path);
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct export_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		usage_init(state);
		state->child_inputs[0] = &arguments->source;
		state->child_inputs[1] = &arguments->source.selection;
		return 0;
	case 'f':
		arguments->format = exports_find(argument);
		if (!arguments->format)
			usage_fail(state, "no format '%s'; there are:" EXPORT_NAMES, argument);
		return 0;
	case 'o':
		if (!*argument)
			usage_fail(state, "-o wants a name, not ''");
		arguments->path = argument;
		return 0;
	case ARGP_KEY_END:
		check_arguments(arguments, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&source_argp, 0, NULL, 0},
					     {&selection_argp, 0, NULL, 0},
					     {0}};

/* "  perfetto    protobuf, for ui.perfetto.dev" on a line each. */
#define EXPORT_LINE(name, suffix, title) "\n  " #name " (" suffix "): " title

static const struct argp parser = {
	.children = children,
	.options = option_table,
	.parser = parse_option,
	.args_doc = "[DIR] -o FILE",
	.doc = "Write a recording in the format of another tool.\n\n" SOURCE_DOC
	       "\n\nThe formats and their suffixes:" EXPORTS(EXPORT_LINE),
};

static int write_file(const struct export_arguments *arguments, const struct report *report,
		      struct err *err)
{
	struct new_file file;
	int rc = new_file_open_any(&file, arguments->path, err);

	if (rc < 0)
		return rc;
	rc = arguments->format(report,
			       &(struct export_target){file.fd,
						       *file.temporary ? file.temporary : NULL,
						       arguments->path},
			       err);
	return new_file_close(&file, rc, err);
}

static int write_stdout(const struct export_arguments *arguments, const struct report *report,
			struct err *err)
{
	if (isatty(STDOUT_FILENO))
		return err_set(err, -EINVAL, "stdout is a terminal; send it to a file or a pipe");
	return arguments->format(report, &(struct export_target){STDOUT_FILENO, NULL, "stdout"},
				 err);
}

/* The other name would lead to the file behind it, which the shell has opened and may append to. */
static bool is_stdout(const char *path)
{
	return !strcmp(path, "-") || !strcmp(path, "/dev/stdout");
}

static int write_export(const struct export_arguments *arguments, const struct report *report,
			struct err *err)
{
	struct progress progress;
	int rc;

	progress_begin(&progress, "writing the file");
	rc = is_stdout(arguments->path) ? write_stdout(arguments, report, err)
					: write_file(arguments, report, err);
	progress_end(&progress);
	return rc;
}

static int run(struct export_arguments *arguments, struct err *err)
{
	struct report *report = NULL;
	int rc = source_load(&report, &arguments->source, "rooflinectl export", err);

	if (rc == 0)
		rc = write_export(arguments, report, err);
	report_free(report);
	return rc;
}

int cmd_export(int argc, char **argv)
{
	struct export_arguments arguments = {0};
	struct err err = {""};
	int rc;

	if (usage_parse(&parser, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	signal(SIGXFSZ, SIG_IGN); /* a limit of file sizes is a failure to tell of */
	rc = run(&arguments, &err);
	if (rc < 0)
		fprintf(stderr, "rooflinectl export: %s\n", err.text);
	return source_exit_code(rc);
}
