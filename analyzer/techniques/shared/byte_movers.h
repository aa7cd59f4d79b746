/*
 * byte_movers.h - kernels that do little but move bytes of DRAM, and move them slower than it can.
 */
#ifndef ROOFLINE_BYTE_MOVERS_H
#define ROOFLINE_BYTE_MOVERS_H

#include <stdbool.h>

#include "analysis/report.h"

/* Whether counters show a kernel between half of DRAM's roof, or a quarter where its threads ask for each byte about once and
 * share none, and where that counts as reached (ROOFLINE_AT_ROOF), with no arithmetic or shared memory to speak of.  A
 * library's is none, nor one that spills: some of what it moves is registers, and more loads under way would take more of
 * them. */
bool is_slow_byte_mover(const struct report *report, const struct roofline_point *point);

#endif
