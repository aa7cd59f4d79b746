/*
 * workload_options.cuh - the command line that all workloads share.
 *
 * Promises one line on stderr and exit code 2 for whatever it does not understand.
 */
#ifndef ROOFLINE_WORKLOAD_OPTIONS_CUH
#define ROOFLINE_WORKLOAD_OPTIONS_CUH

#include <argp.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

/* A size that one workload has beside those of all: the option --NAME. */
struct parameter {
	const char *name, *meaning;
	long least, most, step; /* least, least + step and so on */
	long *value;		/* holds the default until the command line says otherwise */
	bool is_hidden = false; /* not part of what was measured: no result names it */
};

struct workload_options {
	const char *name;    /* of the workload */
	const char *variant; /* NULL: all of them */
	long size, iterations, repeats;
	bool json, list;
	const char *stamps; /* file for when each kernel ran (stamps.cuh), nullptr: none */
	long device;	    /* as CUDA counts them, from 0 */
	std::vector<parameter> parameters;
};

static inline void workload_usage_error(const char *name, const char *problem, const char *text)
{
	fprintf(stderr, "%s: %s '%s'; see %s --help\n", name, problem, text, name);
	exit(2);
}

static inline long workload_parse_count(const char *name, const char *option, const char *text,
					long least, long limit)
{
	char *end;
	long count;

	errno = 0;
	count = strtol(text, &end, 10);
	if (errno || end == text || *end || count < least || count > limit) {
		fprintf(stderr, "%s: %s takes a whole number from %ld to %ld, not '%s'\n", name,
			option, least, limit, text);
		exit(2);
	}
	return count;
}

enum { OPTION_LIST = 'l', OPTION_SIZE = 's', OPTION_ITERATIONS = 'i', OPTION_REPEATS = 'r' };
enum { OPTION_JSON = 'j', OPTION_DEVICE = 'd', OPTION_STAMPS = 256, OPTION_PARAMETER };

static const struct argp_option workload_argp_options[] = {
	{"size", OPTION_SIZE, "N", 0, "elements to work on", 0},
	{"iterations", OPTION_ITERATIONS, "N", 0, "iterations in one timed run", 0},
	{"repeats", OPTION_REPEATS, "N", 0, "timed runs; the median is shown", 0},
	{"device", OPTION_DEVICE, "N", 0, "GPU to run on, counted from 0 (the default)", 0},
	{"json", OPTION_JSON, nullptr, 0, "print the result as JSON", 0},
	{"list", OPTION_LIST, nullptr, 0, "list the variants", 0},
	{"stamps", OPTION_STAMPS, "FILE", 0, "write when each kernel ran, by the GPU's own clock",
	 0},
	{},
};

static inline void workload_parse_parameter(const char *name, const parameter &one,
					    const char *text)
{
	long value = workload_parse_count(name, (std::string("--") + one.name).c_str(), text,
					  one.least, one.most);

	if ((value - one.least) % one.step) {
		fprintf(stderr, "%s: --%s takes %ld, %ld and so on up to %ld, not '%s'\n", name,
			one.name, one.least, one.least + one.step, one.most, text);
		exit(2);
	}
	*one.value = value;
}

static inline error_t workload_parse_option(int key, char *text, struct argp_state *state)
{
	struct workload_options *options = (struct workload_options *)state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->err_stream = nullptr; /* getopt's own line is enough */
		return 0;
	case OPTION_SIZE:
		options->size = workload_parse_count(options->name, "--size", text, 1, 1L << 28);
		return 0;
	case OPTION_ITERATIONS:
		options->iterations =
			workload_parse_count(options->name, "--iterations", text, 1, 1000000);
		return 0;
	case OPTION_REPEATS:
		options->repeats = workload_parse_count(options->name, "--repeats", text, 1, 1000);
		return 0;
	case OPTION_DEVICE:
		options->device = workload_parse_count(options->name, "--device", text, 0, 1000);
		return 0;
	case OPTION_JSON:
		options->json = true;
		return 0;
	case OPTION_LIST:
		options->list = true;
		return 0;
	case OPTION_STAMPS:
		options->stamps = text;
		return 0;
	case ARGP_KEY_ARG:
		if (options->variant)
			workload_usage_error(options->name, "one variant at a time, but got also",
					     text);
		options->variant = text;
		return 0;
	}
	if (key >= OPTION_PARAMETER && key < OPTION_PARAMETER + (int)options->parameters.size()) {
		workload_parse_parameter(options->name, options->parameters[key - OPTION_PARAMETER],
					 text);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* Those of all workloads and before them this one's own. */
static inline std::vector<argp_option> workload_options_of(const std::vector<parameter> &parameters)
{
	std::vector<argp_option> all;

	for (const parameter &one : parameters)
		all.push_back(
			{one.name, OPTION_PARAMETER + (int)all.size(), "N", 0, one.meaning, 0});
	for (const argp_option &option : workload_argp_options)
		all.push_back(option);
	return all;
}

static inline void workload_parse(struct workload_options *options, const char *summary, int argc,
				  char **argv)
{
	const std::vector<argp_option> all = workload_options_of(options->parameters);
	const struct argp parser = {all.data(),	 workload_parse_option,
				    "[VARIANT]", summary,
				    nullptr,	 nullptr,
				    nullptr};

	if (argp_parse(&parser, argc, argv, 0, nullptr, options))
		exit(2);
}

#endif
