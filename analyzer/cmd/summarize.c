/* summarize.c - rooflinectl summarize: the ranks of a recording, small enough to be gathered from ten thousand. */
#include "cmd/commands.h"
#include "cmd/progress.h"
#include "cmd/source.h"
#include "cmd/summary_output.h"
#include "cmd/usage.h"

#include <stdlib.h>
#include <string.h>

#define WHO "rooflinectl summarize"

struct summarize_arguments {
	struct source source;
	struct summary_output output;
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct summarize_arguments *arguments = state->input;

	(void)argument;
	switch (key) {
	case ARGP_KEY_INIT:
		usage_init(state);
		state->child_inputs[0] = &arguments->source;
		state->child_inputs[1] = &arguments->source.selection;
		state->child_inputs[2] = &arguments->output;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&source_argp, 0, NULL, 0},
					     {&selection_argp, 0, NULL, 0},
					     {&summary_output_argp, 0, NULL, 0},
					     {0}};

static const struct argp parser = {
	.children = children,
	.parser = parse_option,
	.args_doc = "[DIR] [-o FILE]",
	.doc = "Reduce each rank of a recording to a summary of at most 1 MB, which 'rooflinectl "
	       "merge' combines with those of other ranks.\n\n" SOURCE_DOC
	       "\n\nWithout -o the summary is shown.",
};

static int run(struct summarize_arguments *arguments, struct err *err)
{
	static const struct report_needs needs = {
		TABLES_ALL, SUMMARY_ANALYSES, true}; /* merge compares the clocks of all hosts */
	struct report *report = NULL;
	struct summary summary = {0};
	struct progress progress;
	int rc = source_load_for(&report, &arguments->source, &needs, WHO, err);

	progress_begin(&progress, "summarizing");
	if (rc == 0)
		rc = summary_build(&summary, report, err);
	progress_end(&progress);
	report_free(report);
	if (rc == 0)
		rc = summary_output(&arguments->output, &summary, err);
	summary_free(&summary);
	return rc;
}

int cmd_summarize(int argc, char **argv)
{
	struct summarize_arguments arguments = {.output.format = USAGE_FORMAT_text};
	struct err err = {""};
	int rc;

	if (usage_parse(&parser, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	rc = run(&arguments, &err);
	if (rc < 0)
		fprintf(stderr, WHO ": %s\n", err.text);
	return source_exit_code(rc);
}
