/*
 * record_options.h - record's command line, which becomes the environment that the collector reads.
 */
#ifndef ROOFLINE_RECORD_OPTIONS_H
#define ROOFLINE_RECORD_OPTIONS_H

#include <stdbool.h>

#include "roofline/collector_env.h"
#include "roofline/runs.h"

/* Sets the variables that options ask for.  Returns false when there is nothing to run; program is what
 * stands behind the options. */
bool record_options_parse(int argc, char **argv, char ***program);

const char *record_variable(enum roofline_variable variable); /* NULL when it is not set */
void record_set_variable(enum roofline_variable variable, const char *value);
void record_unset_variable(enum roofline_variable variable);
void record_set_run(enum roofline_run run);

bool record_is_counter_set(const char *word); /* of --counters */

#endif
