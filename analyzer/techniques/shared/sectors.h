/*
 * sectors.h - how many sectors of memory the warps of a kernel touch, and how many they need.
 *
 * Memory moves in sectors of 32 bytes.  What an access of a warp asks for may be in one sector, and is in no fewer than it
 * fills.
 */
#ifndef ROOFLINE_SECTORS_H
#define ROOFLINE_SECTORS_H

#include "analysis/report.h"

/* Of all launches of a kernel that were counted, loads and stores of memory that all blocks see together; 0: not counted. */
struct touched_sectors {
	double touched, needed;
};

#define SECTOR_BYTES 32

/* kernel: of profile->kernel_names[]. */
struct touched_sectors touched_sectors_of(const struct report *report, uint32_t kernel);

#endif
