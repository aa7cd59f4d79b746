/* scale.c - rooflinectl scale: what several GPUs would bring to a program that runs on one. */
#include "cmd/commands.h"
#include "cmd/progress.h"
#include "cmd/source.h"
#include "cmd/usage.h"

#include "output/scale.h"
#include "roofline/byte_size.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MOST 32

struct scale_arguments {
	struct source source;
	struct data_parallel_request request;
	const char *words[WORDS_MOST];
	bool has_bytes;
	scale_writer write;
};

enum { KEY_GPUS = 256, KEY_GRADIENTS, KEY_BUCKETS, KEY_FIXED, KEY_DIVIDE };

static const struct argp_option option_table[] = {
	{"gradients", KEY_GRADIENTS, "SIZE", 0,
	 "bytes that all GPUs add up in every step, as in 256M: four for each weight in single "
	 "precision; 0 where they have nothing to add up",
	 0},
	{"gpus", KEY_GPUS, "N,...", 0, "how many GPUs (default: 2,4,8)", 0},
	{"buckets", KEY_BUCKETS, "N", 0,
	 "parts in which gradients are added up beside computation (default: the fewest that bring "
	 "nearly all)",
	 0},
	{"fixed", KEY_FIXED, "WORD", 0,
	 "kernels with this in their names take as long on every GPU; may be given several times "
	 "(default: what optimizers are called)",
	 0},
	{"divide", KEY_DIVIDE, "blocks|threads", 0,
	 "fewer samples are fewer blocks of a kernel, or less work in each thread (default: not "
	 "known)",
	 0},
	OPTION_FORMAT("for people (the default), or for programs; csv has a row for each number"),
	{0},
};

static const scale_writer writers[] = {
#define WRITER(name, summary) scale_write_##name,
	OUTPUTS(WRITER)
#undef WRITER
};

static int compare_counts(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static uint64_t parse_count(struct argp_state *state, const char *option, const char *text,
			    char **end, uint64_t most)
{
	unsigned long long number = strtoull(text, end, 10);

	if (!isdigit((unsigned char)*text) || (**end && **end != ',') || number < 2 ||
	    number > most)
		usage_fail(state, "--%s: '%s' is not a number from 2 to %" PRIu64, option, text,
			   most);
	return number;
}

static void parse_gpus(struct data_parallel_request *request, const char *text,
		       struct argp_state *state)
{
	char *end;

	request->count = 0;
	for (;; text = end + 1) {
		uint64_t number = parse_count(state, "gpus", text, &end, DATA_PARALLEL_MOST_GPUS);

		if (request->count == DATA_PARALLEL_COUNTS)
			usage_fail(state, "--gpus takes %d numbers at most", DATA_PARALLEL_COUNTS);
		request->gpus[request->count++] = number;
		if (!*end)
			break;
	}
	qsort(request->gpus, request->count, sizeof(request->gpus[0]), compare_counts);
	for (size_t i = request->count; i-- > 1;) /* the same twice counts once */
		if (request->gpus[i] == request->gpus[i - 1])
			memmove(&request->gpus[i], &request->gpus[i + 1],
				(--request->count - i) * sizeof(request->gpus[0]));
}

static void parse_gradients(struct scale_arguments *arguments, const char *text,
			    struct argp_state *state)
{
	int64_t bytes = byte_size(text);

	if (bytes < 0)
		usage_fail(state, "--gradients: '%s' is not a size such as 256M", text);
	arguments->request.bytes = (double)bytes;
	arguments->has_bytes = true;
}

static void add_word(struct scale_arguments *arguments, const char *word, struct argp_state *state)
{
	struct kept_words *kept = &arguments->request.kept;

	if (kept->items != arguments->words)
		*kept = (struct kept_words){arguments->words, 0};
	if (kept->count == WORDS_MOST)
		usage_fail(state, "--fixed: at most %d times", WORDS_MOST);
	if (!*word)
		usage_fail(state, "--fixed: the word is missing");
	arguments->words[kept->count++] = word;
}

static enum divided parse_divide(const char *text, struct argp_state *state)
{
	if (!strcmp(text, "blocks"))
		return DIVIDED_BLOCKS;
	if (strcmp(text, "threads"))
		usage_fail(state, "--divide: '%s' is none of blocks, threads", text);
	return DIVIDED_THREADS;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct scale_arguments *arguments = state->input;
	char *end;

	switch (key) {
	case ARGP_KEY_INIT:
		usage_init(state);
		state->child_inputs[0] = &arguments->source;
		return 0;
	case KEY_GPUS:
		parse_gpus(&arguments->request, argument, state);
		return 0;
	case KEY_GRADIENTS:
		parse_gradients(arguments, argument, state);
		return 0;
	case KEY_BUCKETS:
		arguments->request.parts =
			parse_count(state, "buckets", argument, &end, DATA_PARALLEL_MOST_PARTS);
		if (*end)
			usage_fail(state, "--buckets takes one number");
		return 0;
	case KEY_FIXED:
		add_word(arguments, argument, state);
		return 0;
	case KEY_DIVIDE:
		arguments->request.divided = parse_divide(argument, state);
		return 0;
	case 'f':
		arguments->write = writers[usage_format(state, argument)];
		return 0;
	case ARGP_KEY_END:
		if (!arguments->has_bytes)
			usage_fail(state, "how much do GPUs add up in a step? --gradients=SIZE, "
					  "or 0 for nothing");
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
	.doc = "Predict what several GPUs would bring to a training step that was recorded on one.\n\n" SOURCE_DOC
	       " Each GPU has all weights and a share of the samples, and all add up their gradients "
	       "in every step: from the kernels that apply gradients to the next ones, told by their "
	       "names, or where none has such a name an iteration of the steady state.",
};

static int predict(const void *context, struct report *report, struct err *err)
{
	const struct scale_arguments *arguments = context;
	struct output_options options = {.color = is_color_wanted(stdout),
					 .width = terminal_width(stdout)};
	struct progress progress;
	struct data_parallel found;
	int rc;

	progress_begin(&progress, "predicting what several GPUs would bring");
	rc = data_parallel_predict(&found, report, &arguments->request, err);
	progress_end(&progress);
	if (rc == 0)
		rc = arguments->write(&found, stdout, &options, err);
	data_parallel_free(&found);
	return rc;
}

int cmd_scale(int argc, char **argv)
{
	struct scale_arguments arguments = {.request = {.gpus = {2, 4, 8},
							.count = 3,
							.kept = data_parallel_kept},
					    .write = scale_write_text};

	if (usage_parse(&parser, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	return source_answer(&arguments.source, "rooflinectl scale", predict, &arguments);
}
