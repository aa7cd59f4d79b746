/*
 * first_launches.h - what the first launch of a kernel takes beyond its later ones: code is loaded in it.
 *
 * CUDA loads a kernel when it is launched for the first time.  CUPTI has an overhead record for a part of that only: of
 * a first launch of 6.1 ms that of the lazy loading was 0.4 ms long.  So a first launch is one that loads when such a
 * record lies in the call, or in the pause of its thread right before it; or when the call took more than
 * FIRST_LAUNCH_TIMES as long as every later launch of that kernel in that process.  What it takes beyond the mean of the
 * later ones, of the kernel or where there is none of the process, is loading, which comes first in the call.
 *
 * Private to gap_finder.c.
 */
#ifndef ROOFLINE_FIRST_LAUNCHES_H
#define ROOFLINE_FIRST_LAUNCHES_H

#include "base/spans.h"
#include "trace/profile.h"

#define FIRST_LAUNCH_TIMES 2

/* Adds to module, by thread and not yet sealed, what loading took; is_load tells overheads that load code from others.
 * Returns 0 or -ENOMEM. */
int first_launches_add(struct spans *module, const struct profile *profile,
		       bool (*is_load)(const struct profile_overhead *overhead));

#endif
