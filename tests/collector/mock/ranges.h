/*
 * ranges.h - the range profiler of the stand-in for CUPTI: what launches tell it.
 */
#ifndef ROOFLINE_TESTS_MOCK_RANGES_H
#define ROOFLINE_TESTS_MOCK_RANGES_H

#include "mock_cupti.h"

extern __thread bool mock_is_capturing; /* this thread's stream */

/* Adds a launch to the range that it is part of. */
void mock_count_launch(const struct mock_launch *launch, uint32_t correlation, bool *is_replayed);

#endif
