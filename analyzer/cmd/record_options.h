/*
 * record_options.h - record's command line, which becomes the environment that the collector reads.
 */
#ifndef ROOFLINE_RECORD_OPTIONS_H
#define ROOFLINE_RECORD_OPTIONS_H

#include <stdbool.h>

#include "roofline/collector_env.h"
#include "roofline/runs.h"

/* What is not for the collector. */
struct record_choices {
	char **program;	  /* what stands behind the options */
	const char *ring; /* the folder of --ring, or NULL */
	bool is_live;
	unsigned repeat_count;	 /* of --repeats; 0: one recording */
	unsigned untraced_count; /* of --untraced: further runs, without recording */
};

/* Sets the variables that options ask for.  Returns false when there is nothing to run. */
bool record_options_parse(int argc, char **argv, struct record_choices *choices);

const char *record_variable_name(enum roofline_variable variable);
const char *record_variable(enum roofline_variable variable); /* NULL when it is not set */
void record_set_variable(enum roofline_variable variable, const char *value);
void record_unset_variable(enum roofline_variable variable);
void record_set_run(enum roofline_run run);

bool record_is_counter_set(const char *word); /* of --counters */

#endif
