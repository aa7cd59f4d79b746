/* report.c - rooflinectl report: where the GPU's time went and why it idled. */
#include "cmd/commands.h"
#include "cmd/pager.h"
#include "cmd/progress.h"
#include "cmd/source.h"
#include "cmd/usage.h"

#include "advice/advice.h"
#include "base/format.h"
#include "base/new_file.h"
#include "html/html.h"
#include "output/limit_text.h"
#include "output/order.h"
#include "output/outputs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECTION_ONE(name) +1
enum { SECTION_COUNT = 0 SECTIONS(SECTION_ONE) };
#undef SECTION_ONE

struct report_arguments {
	struct source source;
	const char *output_path, *html_path, *sort;
	enum usage_format format;
	struct output_options options;
	const struct section *chosen[SECTION_COUNT + 1];
	size_t chosen_count;
};

enum { KEY_HTML = 256, KEY_SORT };

static const struct argp_option option_table[] = {
	OPTION_FORMAT("for people (the default), for programs, or one section as a table"),
	{"section", 's', "NAME,...", 0,
	 "only these sections, of" SECTION_NAMES "; csv has one at a time, kernels by default", 0},
	{"sort", KEY_SORT, "COLUMN", 0,
	 "the rows of the one section, kernels by default, by a column that it has in CSV", 0},
	OPTION_TOP("rows of each list; text shows 10, others all"),
	OPTION_WIDE("names in full, lines as long as they need"),
	{"output", 'o', "FILE", 0, "write to FILE instead of stdout", 0},
	{"html", KEY_HTML, "FILE", 0,
	 "write one page for a browser to FILE, with everything and a timeline to zoom", 0},
	{0},
};

static void choose_section(struct report_arguments *arguments, const char *name,
			   struct argp_state *state)
{
	const struct section *section = section_find(name);

	if (!section)
		usage_fail(state, "no section '%s'%s; there are:" SECTION_NAMES, name,
			   usage_suggest(name, SECTION_NAMES).text);
	for (size_t i = 0; i < arguments->chosen_count; i++)
		if (arguments->chosen[i] == section)
			return;
	arguments->chosen[arguments->chosen_count++] = section;
	arguments->options.sections = arguments->chosen;
}

static void choose_sections(struct report_arguments *arguments, char *names,
			    struct argp_state *state)
{
	char *name;

	while ((name = strsep(&names, ",")))
		choose_section(arguments, name, state);
}

/* What is asked of one section, which is named or stands for itself. */
static void check_options(struct report_arguments *arguments, struct argp_state *state)
{
	bool is_one = arguments->format == USAGE_FORMAT_csv || arguments->sort;
	bool has_holes = selection_has_holes(&arguments->source.selection);

	if (is_one && arguments->chosen_count > 1)
		usage_fail(state, "one section at a time with %s",
			   arguments->sort ? "--sort" : "--format csv");
	if (is_one && !arguments->chosen_count)
		choose_section(arguments, "kernels", state);
	if (arguments->sort && arguments->format == USAGE_FORMAT_text &&
	    !arguments->chosen[0]->takes_order)
		usage_fail(state,
			   "the text of section %s has an order of its own; sort csv or json",
			   arguments->chosen[0]->key);
	for (size_t i = 0; i < arguments->chosen_count && has_holes; i++)
		if (arguments->chosen[i]->is_of_advice)
			usage_fail(
				state,
				"section %s is about all that ran, not about --kernels or --stream",
				arguments->chosen[i]->key);
	arguments->options.has_holes = has_holes;
}

/* A page has everything, in its own form. */
static void check_page(const struct report_arguments *arguments, struct argp_state *state)
{
	const struct output_options *options = &arguments->options;

	if (arguments->html_path &&
	    (arguments->format != USAGE_FORMAT_text || arguments->output_path ||
	     options->sections || options->top || options->wide || arguments->sort))
		usage_fail(state, "--html writes a whole page to its own FILE: it goes without "
				  "--format, --section, --sort, --top, --wide and --output");
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct report_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		usage_init(state);
		state->child_inputs[0] = &arguments->source;
		state->child_inputs[1] = &arguments->source.selection;
		return 0;
	case 'f':
		arguments->format = usage_format(state, argument);
		return 0;
	case 's':
		choose_sections(arguments, argument, state);
		return 0;
	case KEY_SORT:
		arguments->sort = argument;
		return 0;
	case 'n':
		arguments->options.top = usage_rows(state, argument);
		return 0;
	case 'w':
		arguments->options.wide = true;
		return 0;
	case 'o':
		arguments->output_path = argument;
		return 0;
	case KEY_HTML:
		if (!*argument)
			usage_fail(state, "--html: the file's name is missing");
		arguments->html_path = argument;
		return 0;
	case ARGP_KEY_END:
		check_page(arguments, state);
		check_options(arguments, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&source_argp, 0, NULL, 0},
					     {&selection_argp, 0, NULL, 0},
					     {0}};

static const struct argp parser = {
	.children = children,
	.options = option_table,
	.parser = parse_option,
	.args_doc = "[DIR]",
	.doc = "Tell where the GPU's time went and why it idled.\n\n" SOURCE_DOC,
};

static void fit_to(FILE *out, struct output_options *options)
{
	options->color = is_color_wanted(out);
	options->width = terminal_width(out);
}

static int write_report(const struct report *report, struct report_arguments *arguments, FILE *out,
			struct err *err)
{
	fit_to(out, &arguments->options);
	return outputs[arguments->format](report, out, &arguments->options, err);
}

static int write_file(const struct report *report, struct report_arguments *arguments,
		      struct err *err)
{
	struct progress progress = {0};
	struct new_file file;
	int rc = new_file_open_any(&file, arguments->output_path, err);
	FILE *out;

	if (rc < 0)
		return rc;
	out = new_file_stream(&file, err);
	if (*file.temporary) /* else it may be the terminal that is written */
		progress_begin(&progress, "writing the report");
	rc = new_file_close(&file, out ? write_report(report, arguments, out, err) : -ENOMEM, err);
	progress_end(&progress);
	return rc;
}

/* The page is there complete or not at all. */
static int write_page(const struct report *report, const char *path, struct err *err)
{
	struct progress progress;
	struct new_file file;
	FILE *out;
	int rc = new_file_open(&file, path, err);

	if (rc < 0)
		return rc;
	out = new_file_stream(&file, err);
	progress_begin(&progress, "writing the page");
	rc = new_file_close(&file, out ? html_write(report, out, err) : -ENOMEM, err);
	progress_end(&progress);
	return rc;
}

static int write_ordered(const struct report *report, struct report_arguments *arguments,
			 struct err *err)
{
	struct row_order order = {0};
	int rc = 0;

	if (arguments->sort)
		rc = row_order_make(&order, arguments->chosen[0], report, &arguments->options,
				    arguments->sort, err);
	if (rc == 0) {
		arguments->options.order = arguments->sort ? &order : NULL;
		rc = arguments->output_path ? write_file(report, arguments, err)
					    : write_report(report, arguments, stdout, err);
	}
	arguments->options.order = NULL;
	row_order_free(&order);
	return rc;
}

/* A range that was asked for may have any name. */
static void tell_selection(const char *selection)
{
	char text[2048];

	(void)format_text(text, sizeof(text), selection, sizeof(text));
	fprintf(stderr, "rooflinectl report: note: %s\n", text);
}

static void tell_why_empty(const struct report *report, const struct report_arguments *arguments)
{
	const struct section *section = arguments->chosen[0];
	const struct report *from = section_report(section, report);
	const struct row root = {.report = from, .options = &arguments->options, .item = from};
	struct sentence why;

	if (section->at(&root, 0))
		return;
	why = section_why_empty(section, from);
	if (*why.text)
		fprintf(stderr, "rooflinectl report: note: section %s is empty: %s\n", section->key,
			why.text);
}

/* CSV has no line for them: what part the report is of, why it has no row, and what --top left out. */
static void tell_beside_csv(const struct report *report, const struct report_arguments *arguments)
{
	size_t count;

	if (arguments->format != USAGE_FORMAT_csv)
		return;
	if (report->part.sentence)
		tell_selection(report->part.sentence);
	tell_why_empty(report, arguments);
	count = section_left_out(arguments->chosen[0], report, &arguments->options);
	if (count)
		fprintf(stderr, "rooflinectl report: note: %s more row%s left out by --top %zu\n",
			format_count(count).text, count == 1 ? " is" : "s are",
			arguments->options.top);
}

/* Advice may take long: who waits for a whole report at a terminal reads what was measured meanwhile. */
static int begin_early(const struct report *report, struct report_arguments *arguments,
		       struct err *err)
{
	struct output_options *options = &arguments->options;
	int rc;

	if (arguments->format != USAGE_FORMAT_text || arguments->output_path ||
	    arguments->html_path || options->sections || !isatty(pager_terminal()))
		return 0;
	fit_to(stdout, options);
	rc = output_text_begin(report, stdout, options, err);
	options->is_begun = true;
	pager_show_begin();
	return rc;
}

static int find_advice(struct advice **out, const struct report *report,
		       struct report_arguments *arguments, struct err *err)
{
	int rc;

	if (!sections_want_advice(&arguments->options))
		return 0;
	rc = begin_early(report, arguments, err);
	return rc < 0 ? rc : source_find_advice(out, report, NULL, err);
}

static int run(struct report_arguments *arguments, struct err *err)
{
	struct report *report;
	struct advice *advice = NULL;
	static const struct report_needs everything = {0};
	struct report_needs needs =
		arguments->html_path ? everything : sections_needs(&arguments->options);
	int rc = source_load_for(&report, &arguments->source, &needs, "rooflinectl report", err);

	if (rc == 0)
		rc = find_advice(&advice, report, arguments, err);
	if (rc == 0) {
		report->advice = advice;
		tell_beside_csv(report, arguments);
		rc = arguments->html_path ? write_page(report, arguments->html_path, err)
					  : write_ordered(report, arguments, err);
	}
	advice_free(advice);
	report_free(report);
	return rc;
}

int cmd_report(int argc, char **argv)
{
	struct report_arguments arguments = {.format = USAGE_FORMAT_text};
	struct err err = {""};
	int rc;

	if (usage_parse(&parser, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	rc = run(&arguments, &err);
	if (rc < 0)
		fprintf(stderr, "rooflinectl report: %s\n", err.text);
	return source_exit_code(rc);
}
