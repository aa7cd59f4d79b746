/*
 * quiet_run.h - one run of a program whose output is kept, with a time limit.
 *
 * It gets a process group of its own, so that at the limit all that it started ends with it.  Who interrupts us means
 * the program as well.
 */
#ifndef ROOFLINE_QUIET_RUN_H
#define ROOFLINE_QUIET_RUN_H

#include <stdbool.h>

#include "base/err.h"

struct quiet_run {
	char **command;
	const char *input;		      /* the file that it reads as stdin; NULL: nothing */
	double timeout_s;		      /* 0: none */
	void (*prepare)(const void *context); /* in its process, before it starts; NULL: nothing */
	const void *context;
	/* found */
	int status; /* as wait(2) tells it */
	bool is_timed_out;
	int interrupted_by; /* a signal, or 0 */
	double seconds;
	int output, errors; /* files in memory: what it printed on stdout and stderr */
};

/* Returns 0 also where the program failed; a negative errno where it cannot be run at all.  Closed with
 * quiet_run_close in both cases. */
int quiet_run(struct quiet_run *run, struct err *err);
void quiet_run_close(struct quiet_run *run);

#endif
