/* report.c - rooflinectl report: where the GPU's time went and why it idled. */
#include "cmd/commands.h"
#include "cmd/source.h"
#include "cmd/usage.h"

#include "advice/advice.h"
#include "base/new_file.h"
#include "output/outputs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct report_arguments {
	struct source source;
	const char *output_path;
	output_function output;
	struct output_options options;
};

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

static int write_report(const struct report *report, struct report_arguments *arguments, FILE *out,
			struct err *err)
{
	arguments->options.color = is_color_wanted(out);
	return arguments->output(report, out, &arguments->options, err);
}

static int write_file(const struct report *report, struct report_arguments *arguments,
		      struct err *err)
{
	struct new_file file;
	int rc = new_file_open_any(&file, arguments->output_path, err);
	FILE *out;

	if (rc < 0)
		return rc;
	out = new_file_stream(&file, err);
	return new_file_close(&file, out ? write_report(report, arguments, out, err) : -ENOMEM,
			      err);
}

static int run(struct report_arguments *arguments, struct err *err)
{
	struct report *report;
	struct advice *advice = NULL;
	int rc;

	if (arguments->output == output_csv && !arguments->options.section)
		arguments->options.section = &section_kernels;
	rc = source_load(&report, &arguments->source, "rooflinectl report", err);
	if (rc == 0 && sections_want_advice(&arguments->options))
		rc = advice_find(&advice, report, NULL, err);
	if (rc == 0) {
		report->advice = advice;
		rc = arguments->output_path ? write_file(report, arguments, err)
					    : write_report(report, arguments, stdout, err);
	}
	advice_free(advice);
	report_free(report);
	return rc;
}

int cmd_report(int argc, char **argv)
{
	struct report_arguments arguments = {.output = output_text};
	struct err err = {""};

	if (usage_parse(&parser, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	if (run(&arguments, &err) < 0) {
		fprintf(stderr, "rooflinectl report: %s\n", err.text);
		return EXIT_FAILED;
	}
	return EXIT_OK;
}
