/*
 * tune_run.h - one run of the program that is tuned: its command, and what it printed.
 */
#ifndef ROOFLINE_TUNE_RUN_H
#define ROOFLINE_TUNE_RUN_H

#include <stdbool.h>

#include "base/err.h"
#include "cmd/quiet_run.h"
#include "tune/space.h"

struct tune_run {
	struct quiet_run process; /* its command without anything left to fill in */
	bool is_shown;		  /* what it prints goes to stderr as well, when it has ended */
	/* found */
	char *output;	 /* owned; what it printed on stdout */
	char *complaint; /* owned; the last line on stderr, "" without one */
};

/* The command with the values of a point in place of {NAME}; NULL without memory.  Free with tune_command_free. */
char **tune_command_of(char **command, const struct tune_space *space, size_t point);
void tune_command_free(char **command);

/* The first parameter that no word of the command has, or NULL. */
const char *tune_command_lacks(char **command, const struct tune_space *space);

/* The first {NAME} of the command that is no parameter, or NULL: from its name on, which has so many bytes. */
const char *tune_command_unknown(char **command, const struct tune_space *space, int *length);

/* Returns 0 also where the program failed; a negative errno where it cannot be run at all. */
int tune_run(struct tune_run *run, struct err *err);
void tune_run_free(struct tune_run *run);

#endif
