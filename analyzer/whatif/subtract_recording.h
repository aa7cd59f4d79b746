/*
 * subtract_recording.h - two recordings compared without what recording added to either.
 */
#ifndef ROOFLINE_SUBTRACT_RECORDING_H
#define ROOFLINE_SUBTRACT_RECORDING_H

#include "analysis/compare/comparison.h"
#include "analysis/report.h"

/* Of the run or the range that is compared, and beside the runs of their steady states, which are compared here; with the
 * ceilings of before.  Returns 0 or -ENOMEM, described in err. */
int what_if_subtract_recording(struct comparison *comparison, const struct report *before,
			       const struct report *after, struct err *err);

#endif
