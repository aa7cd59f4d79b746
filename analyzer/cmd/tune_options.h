/*
 * tune_options.h - tune's command line.
 */
#ifndef ROOFLINE_TUNE_OPTIONS_H
#define ROOFLINE_TUNE_OPTIONS_H

#include "cmd/tune_objective.h"
#include "tune/session.h"

struct tune_options {
	struct tune_space space;
	const char *conditions[TUNE_MOST_CONDITIONS];
	size_t condition_count;
	struct tune_objective objective;
	struct tune_settings settings;
	const char *first_text;	     /* of --default, or NULL */
	const char *output, *source; /* -o; --from or NULL */
	const char *ceilings_path;
	double trial_timeout_s;
	bool is_fresh, is_explained, is_json, is_quiet, is_shown;
	char **command; /* with {NAME} where parameters go */
};

/* Fills all of it in; ends the program with one line where something is wrong. */
bool tune_options_parse(struct tune_options *options, int argc, char **argv);

void tune_options_free(struct tune_options *options);

#endif
