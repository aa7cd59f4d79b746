/*
 * fusing.h - what the counters of a report tell of kernels that could be one.
 */
#ifndef ROOFLINE_FUSING_H
#define ROOFLINE_FUSING_H

#include "analysis/report.h"
#include "techniques/fusion.h"

/* Fills in fusion.  Its kernels stay NULL where no bytes of DRAM were counted, where there is no roof to hold
 * them against, and where there are several devices: counters are of all of them together.  Returns 0 or
 * -ENOMEM; the caller frees kernels. */
int fusing_collect(struct fusion *fusion, const struct report *report);

/* The largest share of a roof that is no memory's: what of its time a kernel needs for its arithmetic or atomics. */
double fusing_arithmetic_share(const struct roofline_point *point);

#endif
