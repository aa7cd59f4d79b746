/* whatif.c - rooflinectl whatif: what several techniques at once would bring. */
#include "cmd/commands.h"
#include "cmd/progress.h"
#include "cmd/source.h"
#include "cmd/technique_options.h"
#include "cmd/usage.h"

#include "output/whatif.h"
#include "trace/recording.h"

#include <stdio.h>
#include <string.h>

struct whatif_arguments {
	struct source source;
	struct chosen_techniques chosen;
	whatif_writer write;
	bool is_list;
};

enum { KEY_LIST = 1024 };

static const struct argp_option option_table[] = {
	{"list", KEY_LIST, NULL, 0, "what each technique changes, assumes, and when it is refused",
	 2},
	{"format", 'f', "text|json|csv", 0,
	 "for people (the default), or for programs; csv has each technique", 2},
	{0},
};

static const whatif_writer writers[] = {
#define WRITER(name, summary) whatif_write_##name,
	OUTPUTS(WRITER)
#undef WRITER
};

/* DIR may be left out, so that a lone word is taken for it. */
static void check_recording(const char *path, struct argp_state *state)
{
	struct remedy remedy;

	if (technique_options_find_space(&remedy, state, path) && !recording_is_there(path))
		usage_fail(state, "no recording is called '%s'%s", path, remedy.text);
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct whatif_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		usage_init(state);
		state->child_inputs[0] = &arguments->chosen;
		state->child_inputs[1] = state->child_inputs[2] = &arguments->source;
		return 0;
	case 'f':
		arguments->write = writers[usage_format(state, argument)];
		return 0;
	case KEY_LIST:
		arguments->is_list = true;
		return 0;
	case ARGP_KEY_END:
		if (arguments->is_list)
			return 0;
		technique_options_require(&arguments->chosen, state);
		check_recording(arguments->source.path, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&technique_options_argp, 0, NULL, 1},
					     {&source_argp, 0, NULL, 2},
					     {&source_range_argp, 0, NULL, 2},
					     {0}};

static const struct argp parser = {
	.children = children,
	.options = option_table,
	.parser = parse_option,
	.args_doc = "[DIR]",
	.doc = "Re-simulate a recorded run with several techniques at once.\n\n" SOURCE_DOC
	       " Techniques are applied in the order in which they are given; what one changes those "
	       "after it leave alone, but that kernels of --streams become branches of --graph. With RANGE, the name of an NVTX range, one changes only "
	       "iterations that lie in it.",
};

static int predict(const void *context, struct report *report, struct err *err)
{
	const struct whatif_arguments *arguments = context;
	struct output_options options = {.color = is_color_wanted(stdout),
					 .width = terminal_width(stdout)};
	struct progress progress;
	struct scenario scenario;
	int rc;

	progress_begin(&progress, "predicting what the techniques would gain");
	rc = scenario_predict(&scenario, report, &arguments->chosen, arguments->source.range, err);
	progress_end(&progress);
	return rc < 0 ? rc : arguments->write(&scenario, stdout, &options, err);
}

static int list(void)
{
	const struct output_options options = {.color = is_color_wanted(stdout),
					       .width = terminal_width(stdout)};
	struct err err = {""};

	if (whatif_write_list(stdout, &options, &err) == 0)
		return EXIT_OK;
	fprintf(stderr, "rooflinectl whatif: %s\n", err.text);
	return EXIT_FAILED;
}

int cmd_whatif(int argc, char **argv)
{
	struct whatif_arguments arguments = {.write = whatif_write_text};

	technique_options_open();
	arguments.source.ranges = arguments.chosen.ranges;
	arguments.source.range_count = TECHNIQUE_COUNT;
	if (usage_parse(&parser, argc, argv, ARGP_IN_ORDER, &arguments))
		return EXIT_USAGE;
	if (arguments.is_list)
		return list();
	return source_answer(&arguments.source, "rooflinectl whatif", predict, &arguments);
}
