/*
 * power.h - clocks, power and temperature ten times a second, on a thread of ours, as NVML tells them (--power).
 *
 * NVML is loaded, not linked.  Where it is missing or says no, the recording says why and has no rows.
 */
#ifndef ROOFLINE_COLLECTOR_POWER_H
#define ROOFLINE_COLLECTOR_POWER_H

#include <stdint.h>

#include "options.h"

/* Starts the thread, when the options ask for it. */
void power_start(const struct options *options);

/* A device of this process, as the devices table has it: from now on it is read. */
void power_add_device(uint32_t device, const char *uuid);

/* Reads once more and ends the thread; waits a second at most. */
void power_stop(void);

#endif
