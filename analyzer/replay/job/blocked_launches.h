/*
 * blocked_launches.h - launches that took long because the queue of the GPU was full.
 *
 * A host that is ahead of its GPU by about a thousand launches is held back in each further one until the GPU has begun
 * an earlier one.  Then the host is no faster than the GPU, and in a run whose GPU is faster it would be, too.
 */
#ifndef ROOFLINE_BLOCKED_LAUNCHES_H
#define ROOFLINE_BLOCKED_LAUNCHES_H

#include "replay/model.h"

/* What a launch takes that is not held back. */
#define BLOCKED_LAUNCH_OWN_NS 4000

/* The operation whose start let the call return, or PROFILE_NONE: it was not held back.  log n in the operations. */
uint32_t blocked_launch_room(const struct model *model, size_t call);

#endif
