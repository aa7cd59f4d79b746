/*
 * untraced_shares.h - how long parts of a run took without recording, where the program also ran so
 * (profile->untraced_calls).
 */
#ifndef ROOFLINE_UNTRACED_SHARES_H
#define ROOFLINE_UNTRACED_SHARES_H

#include "analysis/time/steady_loop.h"
#include "replay/part_times.h"

/* How long the places took without recording, by their recorded time: from the first launch of each to the end of its
 * last wait.  Without places all of the run.  0: not known, as where no wait ends a place. */
double untraced_share(const struct profile *profile, const struct place *places, size_t count);

/* The same of the iterations of a steady state, each time that its loop runs with the wait behind it.  0: not known. */
double untraced_steady_share(const struct steady_loop *steady, const struct looped_run *run);

#endif
