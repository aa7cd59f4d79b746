/*
 * join_untraced.h - when the program launched and waited in a run without recording (roofline/runs.h, UNTRACED).
 */
#ifndef ROOFLINE_JOIN_UNTRACED_H
#define ROOFLINE_JOIN_UNTRACED_H

#include "trace/profile.h"

/* Fills in untraced_calls[] from profile->untraced_run, which it frees, and how many of its processes there were.  Each
 * is one more run of the program: of those that launched the same, thread by thread, that of median length is taken.
 * Where none did, or several processes of the recording launch, there are no such calls.  Returns 0 or -ENOMEM. */
int profile_join_untraced(struct profile *profile);

#endif
