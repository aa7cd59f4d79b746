/*
 * steady_state.h - what a device did in the part of the run that repeats, or in the rest: columns of several sections.
 */
#ifndef ROOFLINE_SECTION_STEADY_STATE_H
#define ROOFLINE_SECTION_STEADY_STATE_H

#include "analysis/report.h"
#include "output/columns.h"

/* Of a struct run_part. */
extern const struct column run_part_columns[];

/* Of the device; NULL where nothing repeats. */
const struct steady_device *steady_state_of(const struct report *report, size_t device);

#endif
