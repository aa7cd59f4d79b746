/*
 * bank_conflicts.h - what a kernel's accesses to shared memory wait for each other at its banks.
 */
#ifndef ROOFLINE_BANK_CONFLICTS_H
#define ROOFLINE_BANK_CONFLICTS_H

#include "analysis/report.h"

struct bank_conflicts {
	double share; /* of its wavefronts: those that are there for conflicts alone */
	double lost_ns; /* of all launches: the cycles that these take, on all SMs alike and at the highest clock */
	double time_ns; /* likewise, all that they take */
	double busy_share; /* of that time, in which wavefronts keep SMs busy likewise: conflicts or not */
};

/* Of a kernel (kernel_names[]) of the device that was used, by the counters of the set shared; all 0 where they do not tell. */
struct bank_conflicts bank_conflicts_of(const struct report *report, uint32_t kernel);

/* Whether conflicts are at least half of its wavefronts, so that another layout matters. */
bool bank_conflicts_are_many(const struct bank_conflicts *conflicts);

/* Whether wavefronts explain what it takes (ROOFLINE_AT_ROOF), so that it is expected to take less with fewer: of another one
 * nobody knows what else it waits for. */
bool bank_conflicts_bind(const struct bank_conflicts *conflicts);

#endif
