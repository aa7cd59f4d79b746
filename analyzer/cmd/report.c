/* report.c - rooflinectl report: where the GPU's time went and why it idled. */
#include "cmd/commands.h"
#include "cmd/source.h"
#include "cmd/usage.h"

#include "advice/advice.h"
#include "base/new_file.h"
#include "html/html.h"
#include "output/outputs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct report_arguments {
	struct source source;
	const char *output_path, *html_path;
	output_function output;
	struct output_options options;
};

enum { KEY_HTML = 256 };

static const struct argp_option option_table[] = {
	{"format", 'f', "FORMAT", 0,
	 "one of" OUTPUT_NAMES ": for people (the default), for programs, "
	 "and one section as a table",
	 0},
	{"section", 's', "NAME", 0,
	 "only this section, one of" SECTION_NAMES "; csv has one at a time, kernels by default",
	 0},
	{"top", 'n', "N", 0, "rows of each list; text shows 10, json and csv all", 0},
	{"wide", 'w', NULL, 0, "names in full, lines as long as they need", 0},
	{"output", 'o', "FILE", 0, "write to FILE instead of stdout", 0},
	{"html", KEY_HTML, "FILE", 0,
	 "write one page for a browser to FILE, with everything and a timeline to zoom", 0},
	{0},
};

static size_t parse_top(const char *text, struct argp_state *state)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *end || *text < '0' || *text > '9' || value == 0)
		usage_fail(state, "--top wants a number of rows, not '%s'", text);
	return value;
}

/* A page has everything, in its own form. */
static void check_page(const struct report_arguments *arguments, struct argp_state *state)
{
	const struct output_options *options = &arguments->options;

	if (arguments->html_path && (arguments->output != output_text || arguments->output_path ||
				     options->section || options->top || options->wide))
		usage_fail(state, "--html writes a whole page to its own FILE: it goes without "
				  "--format, --section, --top, --wide and --output");
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct report_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		usage_init(state);
		state->child_inputs[0] = &arguments->source;
		return 0;
	case 'f':
		arguments->output = output_find(argument);
		if (!arguments->output)
			usage_fail(state, "no format '%s'; there are:" OUTPUT_NAMES, argument);
		return 0;
	case 's':
		arguments->options.section = section_find(argument);
		if (!arguments->options.section)
			usage_fail(state, "no section '%s'; there are:" SECTION_NAMES, argument);
		return 0;
	case 'n':
		arguments->options.top = parse_top(argument, state);
		return 0;
	case 'w':
		arguments->options.wide = true;
		return 0;
	case 'o':
		arguments->output_path = argument;
		return 0;
	case KEY_HTML:
		arguments->html_path = argument;
		return 0;
	case ARGP_KEY_END:
		check_page(arguments, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&source_argp, 0, NULL, 0}, {0}};

static const struct argp parser = {
	.children = children,
	.options = option_table,
	.parser = parse_option,
	.args_doc = "[DIR]",
	.doc = "Tell where the GPU's time went and why it idled.\n\n" SOURCE_DOC,
};

/* Writes to the file asked for; a file that could not be completed is a failure like any other. */
static int write_report(const struct report *report, struct report_arguments *arguments,
			struct err *err)
{
	FILE *out = stdout;
	int rc;

	if (arguments->output_path) {
		out = fopen(arguments->output_path, "w");
		if (!out)
			return err_set(err, -errno, "%s: cannot be written: %s",
				       arguments->output_path, strerror(errno));
	}
	arguments->options.color = is_color_wanted(out);
	rc = arguments->output(report, out, &arguments->options, err);
	if (out != stdout && fclose(out) && rc == 0)
		rc = err_set(err, -errno, "%s: could not be written: %s", arguments->output_path,
			     strerror(errno));
	return rc;
}

/* The page is there complete or not at all. */
static int write_page(const struct report *report, const char *path, struct err *err)
{
	struct new_file file;
	FILE *out;
	int rc = new_file_open(&file, path, err);

	if (rc < 0)
		return rc;
	out = fdopen(dup(file.fd), "w");
	rc = out ? html_write(report, out, err) : -errno;
	if (out && fclose(out) && rc == 0)
		rc = err_set(err, -errno, "%s: could not be written: %s", path, strerror(errno));
	return new_file_close(&file, rc, err);
}

static int run(struct report_arguments *arguments, struct err *err)
{
	struct report *report;
	struct advice *advice = NULL;
	struct report_needs needs;
	int rc;

	if (arguments->output == output_csv && !arguments->options.section)
		arguments->options.section = &section_kernels;
	needs = sections_needs(&arguments->options);
	rc = source_load_for(&report, &arguments->source, &needs, "rooflinectl report", err);
	if (rc == 0 && sections_want_advice(&arguments->options))
		rc = advice_find(&advice, report, NULL, err);
	if (rc == 0) {
		report->advice = advice;
		rc = arguments->html_path ? write_page(report, arguments->html_path, err)
					  : write_report(report, arguments, err);
	}
	advice_free(advice);
	report_free(report);
	return rc;
}

int cmd_report(int argc, char **argv)
{
	struct report_arguments arguments = {.output = output_text};
	struct err err = {""};

	if (argp_parse(&parser, argc, argv, 0, NULL, &arguments))
		return EXIT_USAGE;
	if (run(&arguments, &err) < 0) {
		fprintf(stderr, "rooflinectl report: %s\n", err.text);
		return EXIT_FAILED;
	}
	return EXIT_OK;
}
