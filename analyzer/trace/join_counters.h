/*
 * join_counters.h - the counters of one run of a program, for what another run of it launched.
 */
#ifndef ROOFLINE_JOIN_COUNTERS_H
#define ROOFLINE_JOIN_COUNTERS_H

#include "trace/profile.h"

/* Adds counters of profile->counter_run to those of the profile: of launches of the same kernel and shape, and of the
 * n-th graph where both runs launched as many.  What only one of the runs launched is left out.  The times of that run
 * are dropped: counting disturbed them.  Nothing happens without such a run.  Returns 0 or -ENOMEM. */
int profile_join_counters(struct profile *profile);

#endif
