/*
 * sm_activity_join.h - what SMs did in one run of a program, for the kernels of another run of it.
 */
#ifndef ROOFLINE_SM_ACTIVITY_JOIN_H
#define ROOFLINE_SM_ACTIVITY_JOIN_H

#include "analysis/samples/sm_activity.h"

/* A copy of what was sampled in a run, by the devices and kernels of the profile; what only that run has is left out.
 * The caller frees with sm_activity_free.  Returns 0 or -ENOMEM. */
int sm_activity_join(struct sm_activity **out, const struct profile *profile,
		     const struct sm_activity *sampled, const struct profile *run);

/* devices[] of the profile that is a device of another run, or PROFILE_NONE. */
uint32_t sm_activity_find_device(const struct profile *profile,
				 const struct profile_device *device);

#endif
