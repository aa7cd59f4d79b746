/* advise.c - rooflinectl advise: what to change, what that brings, and the command that checks it. */
#include "cmd/commands.h"
#include "cmd/source.h"
#include "cmd/usage.h"

#include "advice/advice.h"
#include "output/outputs.h"

struct advise_arguments {
	struct source source;
	output_function output;
};

static const struct argp_option option_table[] = {
	OPTION_FORMAT(
		"for people (the default), or for programs; csv has the recommendations only"),
	{0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct advise_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		usage_init(state);
		state->child_inputs[0] = state->child_inputs[1] = &arguments->source;
		return 0;
	case 'f':
		arguments->output = outputs[usage_format(state, argument)];
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&source_argp, 0, NULL, 0},
					     {&source_range_argp, 0, NULL, 0},
					     {0}};

static const struct argp parser = {
	.children = children,
	.options = option_table,
	.parser = parse_option,
	.args_doc = "[DIR]",
	.doc = "Recommend what to change, the greatest gain first.\n\n" SOURCE_DOC,
};

static int advise(const void *context, struct report *report, struct err *err)
{
	const struct advise_arguments *arguments = context;
	static const struct section *const chosen[] = {&section_advice, NULL};
	struct output_options options = {.sections = chosen,
					 .is_advice_only = true,
					 .range = arguments->source.range,
					 .color = is_color_wanted(stdout),
					 .width = terminal_width(stdout)};
	int rc = source_find_advice(&report->advice, report, arguments->source.range, err);

	if (rc == 0)
		rc = arguments->output(report, stdout, &options, err);
	advice_free(report->advice);
	report->advice = NULL;
	return rc;
}

int cmd_advise(int argc, char **argv)
{
	struct advise_arguments arguments = {.output = output_text};

	if (usage_parse(&parser, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	return source_answer(&arguments.source, "rooflinectl advise", advise, &arguments);
}
