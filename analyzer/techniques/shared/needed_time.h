/*
 * needed_time.h - what a kernel's work takes at least, however it is launched.
 */
#ifndef ROOFLINE_NEEDED_TIME_H
#define ROOFLINE_NEEDED_TIME_H

#include "techniques/application.h"

/* The least part of its time that a kernel (kernel_names[]) needs: of the roof that counters show nearest, or of its
 * bytes of DRAM by samples.  0: nobody knows.  Both are of all devices together: only where there is one. */
double needed_time_share(const struct recorded_run *run, uint32_t kernel);

/* Return the part of its time that its bytes of DRAM take, by counters or samples; 0 if there are none. */
double needed_of_dram(const struct recorded_run *run, uint32_t kernel);

/* The part of its time that a kernel of another shape usually needs: its work at ROOFLINE_AT_ROOF of that roof, beyond which
 * a kernel hardly gets; at the high end all of the roof.  0: nobody knows. */
double needed_time_usual(const struct application *application, uint32_t kernel);

/* The greatest share of a roof that each SM has its part of, arithmetic, shared memory, L1 or the way to L2, that counters
 * show a kernel at: of the whole GPU, however many SMs had work.  0: nobody knows, or there are several devices. */
double needed_of_sms(const struct recorded_run *run, uint32_t kernel);

#endif
