/*
 * profile_select.h - a part of a profile in place of the whole: what an analysis then sees is as if no more had run.
 */
#ifndef ROOFLINE_PROFILE_SELECT_H
#define ROOFLINE_PROFILE_SELECT_H

#include <stdbool.h>

#include "trace/profile.h"

struct profile_part {
	int64_t from_ns,
		to_ns;	    /* calls, ranges, samples and waits that lie in it or reach into it */
	int64_t first_ns;   /* of the whole recording */
	bool is_from_start; /* operations that began before the time and reach into it go */
	const bool *keeps_op, *keeps_process;  /* by ops[] and processes[] */
	const struct profile_outside *outside; /* by devices[]: of all ops[] */
};

/* Whether the operation lies in the time of the part or reaches into it.  Of those that do not, the nearest ones are
 * remembered in outside, that of the operation's device. */
bool profile_part_takes(const struct profile_part *part, const struct profile *profile, uint32_t op,
			struct profile_outside *outside);

/*
 * Removes the other operations, calls, ranges, waits, samples and readings.  Calls stay that launched an operation that
 * does, and those on the way to the operation behind the part, which tell what an idle device waited for at its end.
 * Operations and calls stay as long as they are; ranges end where the time ends.  Of memory and code all stays that came before it.  The runs with graphs as a
 * whole and with samples go: their time is another one.  Returns 0 or a negative errno, and then the profile can only be freed.
 */
int profile_select(struct profile *profile, const struct profile_part *part);

#endif
