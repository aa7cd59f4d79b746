/*
 * tune_run.h - one run of the program that is tuned: quiet, with a time limit.
 *
 * It gets no input and a process group of its own, so that at the limit all that it started ends with it.  Who
 * interrupts us means the program as well.
 */
#ifndef ROOFLINE_TUNE_RUN_H
#define ROOFLINE_TUNE_RUN_H

#include <stdbool.h>

#include "base/err.h"
#include "tune/space.h"

struct tune_run {
	char **command; /* without anything left to fill in */
	double timeout_s;
	bool is_shown; /* what it prints goes to stderr as well, when it has ended */
	/* found */
	int status; /* as wait(2) tells it */
	bool is_timed_out, is_interrupted;
	double seconds;
	char *output;	 /* owned; what it printed on stdout */
	char *complaint; /* owned; the last line on stderr, "" without one */
};

/* The command with the values of a point in place of {NAME}; NULL without memory.  Free with tune_command_free. */
char **tune_command_of(char **command, const struct tune_space *space, size_t point);
void tune_command_free(char **command);

/* The first parameter that no word of the command has, or NULL. */
const char *tune_command_lacks(char **command, const struct tune_space *space);

/* Returns 0 also where the program failed; a negative errno where it cannot be run at all. */
int tune_run(struct tune_run *run, struct err *err);
void tune_run_free(struct tune_run *run);

#endif
