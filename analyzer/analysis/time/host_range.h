/*
 * host_range.h - in which NVTX range a thread was at a moment.  Pure.
 */
#ifndef ROOFLINE_HOST_RANGE_H
#define ROOFLINE_HOST_RANGE_H

#include "trace/profile.h"

/* The innermost that the thread had pushed then, or NULL. */
const struct profile_range *host_range_at(const struct profile *profile, uint32_t thread,
					  int64_t ns);

#endif
