/* whatif.c - rooflinectl whatif: what several strategies at once would bring. */
#include "cmd/commands.h"
#include "cmd/source.h"
#include "cmd/usage.h"

#include "output/whatif.h"

#include <string.h>

struct whatif_arguments {
	struct source source;
	enum strategy strategies[STRATEGY_COUNT]; /* in the order in which they were given */
	size_t strategy_count;
	whatif_writer write;
};

/* An option for each strategy: its constant, from here on. */
enum { KEY_STRATEGY = 256 };

static const struct argp_option option_table[] = {
	{"graph", KEY_STRATEGY + STRATEGY_GRAPH, NULL, 0,
	 "each iteration of a repeating loop is one launch of a CUDA graph", 1},
	{"fewer-waits", KEY_STRATEGY + STRATEGY_FEWER_WAITS, NULL, 0,
	 "no waits of loops after which the host reads nothing", 1},
	{"decide", KEY_STRATEGY + STRATEGY_DECIDE, NULL, 0,
	 "the device decides what the host reads a few bytes for", 1},
	{"overlap", KEY_STRATEGY + STRATEGY_OVERLAP, NULL, 0,
	 "copies beside kernels: iterations in turn in three streams, from pinned memory", 1},
	{"pinned", KEY_STRATEGY + STRATEGY_PINNED, NULL, 0,
	 "copies of pageable memory are of pinned memory", 1},
	{"preallocate", KEY_STRATEGY + STRATEGY_PREALLOCATE, NULL, 0,
	 "memory of loops is allocated before them", 1},
	{"streams", KEY_STRATEGY + STRATEGY_CONCURRENT, NULL, 0,
	 "small kernels of an iteration side by side, as if none needed another's result", 1},
	{"persistent", KEY_STRATEGY + STRATEGY_PERSISTENT, NULL, 0,
	 "a loop of kernels is one kernel with grid-wide barriers", 1},
	{"queue", KEY_STRATEGY + STRATEGY_QUEUE, NULL, 0,
	 "kernels whose SMs have unequal shares take work items from a queue", 1},
	{"format", 'f', "FORMAT", 0, "text (for people, the default) or json", 2},
	{0},
};

static const struct {
	const char *name;
	whatif_writer write;
} formats[] = {{"text", whatif_write_text}, {"json", whatif_write_json}};

static whatif_writer parse_format(const char *name, struct argp_state *state)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(name, formats[i].name))
			return formats[i].write;
	usage_fail(state, "no format '%s'; there are text and json", name);
}

/* One that was given before keeps its place. */
static void add_strategy(struct whatif_arguments *arguments, enum strategy strategy)
{
	for (size_t i = 0; i < arguments->strategy_count; i++)
		if (arguments->strategies[i] == strategy)
			return;
	arguments->strategies[arguments->strategy_count++] = strategy;
}

static void check_strategies(const struct whatif_arguments *arguments, struct argp_state *state)
{
	char list[256] = "";

	if (arguments->strategy_count)
		return;
	for (int i = 0; i < STRATEGY_COUNT; i++) {
		size_t used = strlen(list);

		snprintf(list + used, sizeof(list) - used, "%s--%s", i ? ", " : "",
			 strategy_option((enum strategy)i));
	}
	usage_fail(state, "which strategy? there are %s", list);
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct whatif_arguments *arguments = state->input;

	if (key >= KEY_STRATEGY && key < KEY_STRATEGY + STRATEGY_COUNT) {
		add_strategy(arguments, (enum strategy)(key - KEY_STRATEGY));
		return 0;
	}
	switch (key) {
	case ARGP_KEY_INIT:
		usage_init(state);
		state->child_inputs[0] = state->child_inputs[1] = &arguments->source;
		return 0;
	case 'f':
		arguments->write = parse_format(argument, state);
		return 0;
	case ARGP_KEY_END:
		check_strategies(arguments, state);
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
	.doc = "Re-simulate a recorded run with several strategies at once.\n\n"
	       "DIR is a recording; without it, the newest one under the current folder. Strategies "
	       "are applied in the order in which they are given; what one changes those after it "
	       "leave alone.",
};

static int predict(const struct whatif_arguments *arguments, const struct report *report,
		   struct err *err)
{
	struct output_options options = {.section = -1, .color = is_color_wanted(stdout)};
	struct scenario scenario;
	int rc = scenario_predict(&scenario, report, arguments->strategies,
				  arguments->strategy_count, arguments->source.range, err);

	return rc < 0 ? rc : arguments->write(&scenario, stdout, &options, err);
}

static int run(const struct whatif_arguments *arguments, struct report **report, struct err *err)
{
	int code = source_open(report, &arguments->source, "rooflinectl whatif", err);

	if (code != EXIT_OK)
		return code;
	return predict(arguments, *report, err) < 0 ? EXIT_FAILED : EXIT_OK;
}

int cmd_whatif(int argc, char **argv)
{
	struct whatif_arguments arguments = {.write = whatif_write_text};
	struct report *report = NULL;
	struct err err = {""};
	int code;

	if (argp_parse(&parser, argc, argv, 0, NULL, &arguments))
		return EXIT_USAGE;
	code = run(&arguments, &report, &err);
	if (code != EXIT_OK)
		fprintf(stderr, "rooflinectl whatif: %s\n", err.text);
	report_free(report);
	return code;
}
