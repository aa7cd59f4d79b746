/*
 * sm_activity_kernels.h - how active the SMs were over the life of each kernel, and how long its tail was.
 *
 * Private to sm_activity.c.
 */
#ifndef ROOFLINE_SM_ACTIVITY_KERNELS_H
#define ROOFLINE_SM_ACTIVITY_KERNELS_H

#include "analysis/samples/sm_activity.h"

/* Fills in the kernels, and what devices[] have of them.  Returns 0 or -ENOMEM. */
int sm_activity_build_kernels(struct sm_activity *activity, const struct profile *profile);

#endif
