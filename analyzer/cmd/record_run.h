/*
 * record_run.h - one run of a program with the collector in it.
 */
#ifndef ROOFLINE_RECORD_RUN_H
#define ROOFLINE_RECORD_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/record_fault.h"
#include "cmd/record_signals.h"

struct record_run {
	const char *who; /* "rooflinectl record", for what is told on stderr */
	char **program;
	const char *folder;	    /* of the recording */
	const char *next;	    /* what would follow, for what is told: "second run" */
	struct signals_watch watch; /* while it runs */
	bool is_started;
	int status; /* as wait(2) tells it */
	struct record_fault fault;
};

/* Sets what loads the collector into programs that are started from here on.  Returns -1 after one line. */
int record_inject(const char *who);

/* Has programs that are started from here on load the library before their own, and ASan not mind.  Returns 0, or -EINVAL
 * where its path cannot be preloaded: it has a space or a colon. */
int record_preload(const char *library);

/* LD_PRELOAD as record_preload sets it: the library, and then what is there.  Owned; NULL without memory. */
char *record_preload_list(const char *library);

/* Runs it and waits for its end, of which one line says where it was if that was a fault; signals must be held (record_signals.h).  Returns a negative number after one line. */
int record_run(struct record_run *run);

/* Whether another run can be compared with this one; says why not.  Where nothing was recorded the caller does. */
bool record_is_worth_repeating(const struct record_run *run);

/* "exit code 3", "signal 15 (Terminated)" */
void record_describe_end(int status, char *text, size_t size);

/* Ends as the program ended, so that scripts see no difference: the exit code, unless it was a signal. */
int record_end_as_program(int status);

#endif
