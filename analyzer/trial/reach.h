/*
 * reach.h - what a strategy reached in a program, and why not more: what its processes wrote (roofline/try.h).
 */
#ifndef ROOFLINE_TRIAL_REACH_H
#define ROOFLINE_TRIAL_REACH_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "roofline/try.h"

/* Something that was counted by name. */
struct trial_cause {
	char *name;	     /* owned; a reason's, or a driver function's */
	const char *meaning; /* NULL: of a function, and of a reason that is not known here */
	uint64_t count;
};

struct trial_causes {
	struct trial_cause *items; /* owned; the largest first once they are read */
	size_t count, capacity;
};

struct trial_reach {
	size_t process_count;		  /* that wrote something */
	uint64_t counts[TRY_COUNT_COUNT]; /* of all of them */
	struct trial_causes passed;	  /* why launches were passed on at once */
	struct trial_causes flushes; /* before which functions what was put off had to be done */
};

/* Adds up what the processes wrote: files in a folder whose names are that name, a dot and a process id.  What cannot be
 * understood is left out.  Returns 0 or a negative errno, described in err; the caller frees with trial_reach_free, also
 * after a failure. */
int trial_reach_read(struct trial_reach *reach, const char *folder, const char *name,
		     struct err *err);
void trial_reach_free(struct trial_reach *reach);

#endif
