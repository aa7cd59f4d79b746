/*
 * try_options.h - try's command line.
 */
#ifndef ROOFLINE_TRY_OPTIONS_H
#define ROOFLINE_TRY_OPTIONS_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "output/try.h"
#include "roofline/try.h"

#define TRY_WHO "rooflinectl try"
#define TRY_MOST_FILES 64 /* of --compare, and of --ignore */

struct try_options {
	bool is_chosen[TRY_STRATEGY_COUNT];
	char strategies[64]; /* "graph,pool" */
	size_t repeats, warm_ups;
	double timeout_s; /* 0: none but of runs with the strategy */
	const char *input;
	const char *files[TRY_MOST_FILES]; /* of --compare */
	size_t file_count;
	regex_t masks[TRY_MOST_FILES]; /* of --ignore */
	size_t mask_count;
	const char *record, *trace, *ceilings_path; /* or NULL */
	double least_speedup;			    /* of --gate */
	try_writer write;
	bool is_memory_checked, is_output_ignored, is_failure_ignored, is_shown, is_quiet, is_kept,
		is_gated;
	char **command;
};

/* The name of a strategy, as ROOFLINE_TRY and without its dashes the option have it. */
const char *try_strategy_name(enum try_strategy strategy);

/* Fills all of it in; ends the program with one line where something is wrong.  Returns false where there is nothing to
 * run; the caller frees in both cases. */
bool try_options_parse(struct try_options *options, int argc, char **argv);
void try_options_free(struct try_options *options);

#endif
