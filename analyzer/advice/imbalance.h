/*
 * imbalance.h - whether a few SMs work long after most others have ended.
 */
#ifndef ROOFLINE_IMBALANCE_H
#define ROOFLINE_IMBALANCE_H

#include "analysis/report.h"

/* A kernel of at least two blocks for each SM, whose SMs are active for less than 70% of the busiest one's time,
 * and that drains for at least 30% of its life.  kernel: of report->sm_activity. */
bool imbalance_is_there(const struct report *report, const struct sm_activity_kernel *kernel);

/* All launches of a kernel (kernel_names[]); NULL when the statistics have none. */
const struct kernel_statistics *imbalance_statistics(const struct report *report, uint32_t kernel);

#endif
