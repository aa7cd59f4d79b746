/*
 * imbalance.h - whether a few SMs work long after most others have ended.
 */
#ifndef ROOFLINE_IMBALANCE_H
#define ROOFLINE_IMBALANCE_H

#include "analysis/report.h"

/* Of launches with at least two blocks for each SM (sm_activity_filled): SMs are active for less than 70% of the
 * busiest one's time, and drain for at least 30% of the kernel's life. */
bool imbalance_is_there(const struct sm_activity_kernel *kernel);

/* All launches of a kernel (kernel_names[]) with so many blocks, also those that were not sampled; ns. */
int64_t imbalance_time_ns(const struct profile *profile, uint32_t kernel);

#endif
