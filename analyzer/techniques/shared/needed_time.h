/*
 * needed_time.h - what a kernel's work takes at least, however it is launched.
 */
#ifndef ROOFLINE_NEEDED_TIME_H
#define ROOFLINE_NEEDED_TIME_H

#include "techniques/application.h"

/* The least part of its time that a kernel (kernel_names[]) needs: of the roof that counters show nearest, or of its
 * bytes of DRAM by samples.  0: nobody knows.  Both are of all devices together: only where there is one. */
double needed_time_share(const struct recorded_run *run, uint32_t kernel);

#endif
