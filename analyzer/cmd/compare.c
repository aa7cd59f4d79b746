/* compare.c - rooflinectl compare: what is different between two or more recordings, and is it more than noise. */
#include "cmd/commands.h"
#include "cmd/compare_sides.h"
#include "cmd/progress.h"
#include "cmd/selection.h"
#include "cmd/source.h"
#include "cmd/usage.h"

#include "analysis/compare/same_work.h"
#include "base/format.h"
#include "base/new_file.h"
#include "html/html.h"
#include "output/compare.h"
#include "output/limit_text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WHO "rooflinectl compare"

struct compare_arguments {
	struct sides sides;
	struct err err; /* of the first argument that is no recording */
	int rc;
	const char *ceilings_path, *html_path;
	struct selection selection; /* of each recording */
	compare_writer write;
	struct output_options options;
	bool is_group; /* --before or --after was given: what follows are its repeats */
	bool has_gate, is_forced;
	double gate;
};

enum { KEY_BEFORE = 256, KEY_AFTER, KEY_GATE, KEY_FORCE, KEY_CEILINGS, KEY_HTML };

static const struct argp_option option_table[] = {
	{"before", KEY_BEFORE, "DIR...", 0, "what the others are compared with, and its repeats",
	 0},
	{"after", KEY_AFTER, "DIR...", 0, "a further side, and its repeats", 0},
	{"gate", KEY_GATE, "PERCENT", 0,
	 "exit code 3 when a side is slower than the first by more than so many percent, beyond noise, or is not the same work",
	 0},
	{"force", KEY_FORCE, NULL, 0, "with --gate: judge also what is not the same work", 0},
	OPTION_FORMAT("for people (the default), or each figure of each side, for programs"),
	{"html", KEY_HTML, "FILE", 0,
	 "instead of text: a page for the browser that needs nothing but FILE", 0},
	OPTION_TOP("text: rows of each list, 10 by default"),
	OPTION_WIDE("text: names in full"),
	{"ceilings", KEY_CEILINGS, "FILE", 0,
	 "roofs that 'rooflinectl ceilings' measured; without it those stored for each GPU, else its "
	 "datasheet's",
	 0},
	{0},
};

static const compare_writer writers[] = {
#define WRITER(name, summary) compare_write_##name,
	OUTPUTS(WRITER)
#undef WRITER
};

static double parse_gate(const char *text, struct argp_state *state)
{
	char *end;
	double percent = strtod(text, &end);

	end += *end == '%';
	if (end == text || *end || !(percent >= 0) || percent > 1e6)
		usage_fail(state, "--gate wants a percentage such as 5%%, not '%s'", text);
	return percent / 100;
}

static void add_side(struct compare_arguments *arguments, const char *path)
{
	if (arguments->rc == 0)
		arguments->rc = compare_sides_add(&arguments->sides, path, &arguments->err);
}

static void add_path(struct compare_arguments *arguments, const char *path)
{
	if (!arguments->is_group)
		add_side(arguments, path);
	else if (arguments->rc == 0)
		arguments->rc = compare_sides_add_repeats(&arguments->sides, path, &arguments->err);
}

static void begin_group(struct compare_arguments *arguments, int key, const char *path,
			struct argp_state *state)
{
	if (key == KEY_BEFORE && arguments->sides.count)
		usage_fail(state, "--before stands before all other recordings, and once");
	if (key == KEY_AFTER && !arguments->is_group)
		usage_fail(state, "--after stands behind --before and its recordings");
	arguments->is_group = true;
	add_side(arguments, path);
}

/* A page has everything, in its own form. */
static void check_page(const struct compare_arguments *arguments, struct argp_state *state)
{
	if (arguments->html_path && (arguments->write != compare_write_text ||
				     arguments->options.top || arguments->options.wide))
		usage_fail(state, "--html writes a whole page to its own FILE: it goes without "
				  "--format, --top and --wide");
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct compare_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		usage_init(state);
		state->child_inputs[0] = &arguments->selection;
		return 0;
	case KEY_BEFORE:
	case KEY_AFTER:
		begin_group(arguments, key, argument, state);
		return 0;
	case KEY_GATE:
		arguments->has_gate = true;
		arguments->gate = parse_gate(argument, state);
		return 0;
	case KEY_FORCE:
		arguments->is_forced = true;
		return 0;
	case 'f':
		arguments->write = writers[usage_format(state, argument)];
		return 0;
	case 'n':
		arguments->options.top = usage_rows(state, argument);
		return 0;
	case 'w':
		arguments->options.wide = true;
		return 0;
	case KEY_CEILINGS:
		arguments->ceilings_path = argument;
		return 0;
	case KEY_HTML:
		if (!*argument)
			usage_fail(state, "--html: the file's name is missing");
		arguments->html_path = argument;
		return 0;
	case ARGP_KEY_ARG:
		add_path(arguments, argument);
		return 0;
	case ARGP_KEY_END:
		check_page(arguments, state);
		if (arguments->rc == 0 && arguments->sides.count < 2)
			usage_fail(state, "two recordings or more are compared: %s",
				   arguments->sides.count ? "one is missing" : "which?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&selection_argp, 0, NULL, 0}, {0}};

static const struct argp parser = {
	.children = children,
	.options = option_table,
	.parser = parse_option,
	.args_doc = "DIR DIR...\n--before DIR... --after DIR... [--after DIR...]",
	.doc = "Tell what is different between two or more recordings.\n\n"
	       "Each DIR is a recording, or a folder of several that repeat the same; the others are compared "
	       "with the first. Repeats tell which differences are more than noise.",
};

/* ---- recordings, one at a time beside the first ---- */

static int load(struct report **out, const struct compare_arguments *arguments, const char *path,
		struct err *err)
{
	static const struct report_needs everything = {0};

	return source_build(out, path, &arguments->selection, &everything, arguments->ceilings_path,
			    WHO, err);
}

static int take(struct compare_arguments *arguments, size_t side, const struct report *report)
{
	struct measures measures;
	int rc = measures_take(&measures, report);

	if (rc == 0)
		rc = sides_add_measures(&arguments->sides, side, &measures);
	measures_free(&measures);
	return rc;
}

/* Each kernel takes longer with counters, and waits for the one before it. */
static int judge_counted(struct side *side, const struct report *first, const struct report *report)
{
	bool was_counted = comparison_is_counted(first->profile);

	if (was_counted == comparison_is_counted(report->profile))
		return 0;
	return sentences_add(
		&side->obstacles,
		"%s alone was recorded with hardware counters, which make its times longer",
		(was_counted ? first : report)->profile->path);
}

/* What is told of the first repeat alone. */
static int describe(struct side *side, const struct report *first, const struct report *report)
{
	int rc = comparison_warn_of_missing(&side->warnings, report->profile);

	side->limit = strdup(limit_sentence(report).text);
	if (report->part.sentence && !(side->selection = strdup(report->part.sentence)))
		return -ENOMEM;
	if (rc == 0 && report != first)
		rc = same_work_judge(first->profile, report->profile, &side->differences,
				     &side->warnings);
	if (rc == 0)
		rc = judge_counted(side, first, report);
	return side->limit ? rc : -ENOMEM;
}

static int read_one(struct compare_arguments *arguments, size_t side, size_t repeat,
		    struct report **first, struct err *err)
{
	struct side *of = &arguments->sides.items[side];
	struct report *report = NULL;
	int rc = load(&report, arguments, of->paths[repeat], err);

	if (rc == 0 && !*first)
		*first = report;
	if (rc == 0 && take(arguments, side, report) < 0)
		rc = err_set(err, -ENOMEM, "out of memory");
	if (rc == 0 && repeat == 0 && describe(of, *first, report) < 0)
		rc = err_set(err, -ENOMEM, "out of memory");
	if (report != *first)
		report_free(report);
	return rc;
}

static int read_all(struct compare_arguments *arguments, struct err *err)
{
	struct report *first = NULL;
	int rc = 0;

	for (size_t i = 0; i < arguments->sides.count && rc == 0; i++)
		for (size_t k = 0; k < arguments->sides.items[i].path_count && rc == 0; k++)
			rc = read_one(arguments, i, k, &first, err);
	report_free(first);
	if (rc == 0 && sides_compare(&arguments->sides) < 0)
		rc = err_set(err, -ENOMEM, "out of memory");
	return rc;
}

/* ---- the gate ---- */

static void put_joined(const struct sentences *sentences)
{
	for (size_t i = 0; i < sentences->count; i++)
		fprintf(stderr, "%s; ", sentences->items[i]);
}

/* One line: all that stands against the comparison, and the remedy. */
static void put_refusal(const struct side *side)
{
	fputs(WHO ": gate not met: ", stderr);
	if (side->differences.count)
		fprintf(stderr, "%s is not the same work: ", side->name);
	put_joined(&side->differences);
	put_joined(&side->obstacles);
	fputs("record the same program with the same sizes in the same way, or have it judged with --force\n",
	      stderr);
}

/* "an iteration takes 29.2 us after 26.9 us" */
static void describe_times(const struct side_row *row, size_t side, char *buffer, size_t size)
{
	snprintf(buffer, size, "%s takes %s, %s before",
		 row->what.group == MEASURE_STEADY ? "an iteration" : "the run",
		 format_ns(row->values[side].value).text, format_ns(row->values[0].value).text);
}

static bool is_gate_met(const struct compare_arguments *arguments, size_t side)
{
	const struct side_row *row = sides_judged(&arguments->sides, side);
	char times[128];
	double ratio;

	if (!sides_is_sound(&arguments->sides.items[side]) && !arguments->is_forced) {
		put_refusal(&arguments->sides.items[side]);
		return false;
	}
	if (!row) {
		fprintf(stderr, WHO ": gate not met: nothing of %s can be compared with %s\n",
			arguments->sides.items[side].name, arguments->sides.items[0].name);
		return false;
	}
	ratio = row->values[side].ratio;
	describe_times(row, side, times, sizeof(times));
	if (sides_is_slower(&arguments->sides, side, arguments->gate)) {
		fprintf(stderr,
			WHO ": gate not met: %s is %.1f%% slower than %s, %g%% are allowed: %s\n",
			arguments->sides.items[side].name, 100 * (ratio - 1),
			arguments->sides.items[0].name, 100 * arguments->gate, times);
		return false;
	}
	if (ratio > 1 + arguments->gate)
		fprintf(stderr,
			WHO
			": warning: %s is %.1f%% slower than %s, within noise: the gate cannot tell; "
			"record more repeats\n",
			arguments->sides.items[side].name, 100 * (ratio - 1),
			arguments->sides.items[0].name);
	return true;
}

static int exit_code(const struct compare_arguments *arguments)
{
	bool is_met = true;

	for (size_t i = 1; i < arguments->sides.count && arguments->has_gate; i++)
		is_met &= is_gate_met(arguments, i);
	return is_met ? EXIT_OK : EXIT_GATE;
}

/* The page is there complete or not at all. */
static int write_page(const struct compare_arguments *arguments, struct err *err)
{
	struct progress progress;
	struct new_file file;
	FILE *out;
	int rc = new_file_open(&file, arguments->html_path, err);

	if (rc < 0)
		return rc;
	out = new_file_stream(&file, err);
	progress_begin(&progress, "writing the page");
	rc = new_file_close(&file,
			    out ? html_write_comparison(&arguments->sides, out, err) : -ENOMEM,
			    err);
	progress_end(&progress);
	return rc;
}

static int write_comparison(const struct compare_arguments *arguments, struct err *err)
{
	if (arguments->html_path)
		return write_page(arguments, err);
	return arguments->write(&arguments->sides, stdout, &arguments->options, err);
}

static int compare(struct compare_arguments *arguments)
{
	struct err err = arguments->err;
	int rc = arguments->rc;

	arguments->options.color = is_color_wanted(stdout);
	arguments->options.width = terminal_width(stdout);
	if (rc == 0)
		rc = read_all(arguments, &err);
	if (rc == 0)
		rc = write_comparison(arguments, &err);
	if (rc == 0)
		return exit_code(arguments);
	fprintf(stderr, WHO ": %s\n", err.text);
	return source_exit_code(rc);
}

int cmd_compare(int argc, char **argv)
{
	struct compare_arguments arguments = {.write = compare_write_text};
	int code = EXIT_USAGE;

	if (usage_parse(&parser, argc, argv, ARGP_IN_ORDER, &arguments) == 0)
		code = compare(&arguments);
	sides_free(&arguments.sides);
	return code;
}
