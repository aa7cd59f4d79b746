/*
 * ceilings_run.h - runs the measuring programs and collects what they print.
 *
 * roofline/ceilings.h says what a program prints.  Here every line is checked;
 * which programs to run and what becomes of the samples is ceilings.c's.
 */
#ifndef ROOFLINE_CEILINGS_RUN_H
#define ROOFLINE_CEILINGS_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/counters/ceilings.h"
#include "base/err.h"

struct ceilings_run {
	bool is_quick;
	size_t program_count, programs_done; /* for the progress bar */
	struct ceilings *ceilings;	     /* borrowed; what a GPU lacks is added to its skips */
	struct ceiling_sample *samples;	     /* owned; of all programs */
	size_t sample_count;
};

/* From here until ceilings_run_close, SIGINT, SIGTERM and SIGHUP end a program and not us. */
void ceilings_run_open(struct ceilings_run *run, struct ceilings *ceilings, bool is_quick,
		       size_t program_count);

/* Path of a program.  Returns 0, or -ENOENT with what to do in err. */
int ceilings_run_find(char *path, size_t size, enum ceiling_program program, struct err *err);

/*
 * Runs one program to its end.  Fails with one sentence in err when it cannot
 * be run, prints what it must not, lacks what it must print, or fails; its good
 * samples are kept.  -EINTR: a signal came, and the program was killed.
 */
int ceilings_run_program(struct ceilings_run *run, enum ceiling_program program, struct err *err);

/* Takes the progress bar away, for something else to be written. */
void ceilings_run_clear_progress(void);

/* Returns the signal that came, or 0. */
int ceilings_run_close(struct ceilings_run *run);

#endif
