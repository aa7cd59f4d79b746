/*
 * gap_finder.h - finds the gaps of a device in time order and gives each of their nanoseconds a cause, by the
 * rule in gaps.h.
 *
 * What it needs to know of calls and overheads is made once per recording, and not changed by visits: they may
 * run at the same time.
 */
#ifndef ROOFLINE_GAP_FINDER_H
#define ROOFLINE_GAP_FINDER_H

#include "analysis/time/gaps.h"

struct gap_finder;

struct device_work;

/* work: device_work_build() of the profile, or NULL: then it is found for this.  Returns 0, or a negative errno as that
 * does. */
int gap_finder_open(struct gap_finder **out, const struct profile *profile,
		    const struct device_work *work);
void gap_finder_close(struct gap_finder *finder);

/* As gaps_visit. */
int gap_finder_visit(const struct gap_finder *finder, size_t device, gap_visitor visit,
		     void *context);

#endif
