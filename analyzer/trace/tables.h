/*
 * tables.h - sets of tables, of which a recording may be read in part.
 */
#ifndef ROOFLINE_TABLES_H
#define ROOFLINE_TABLES_H

#include <stdint.h>

#include "roofline/trace_schema.h"

#define TABLE(name) (UINT64_C(1) << TRACE_TABLE_##name)
#define TABLES_ALL UINT64_MAX

_Static_assert(TRACE_TABLE_COUNT <= 64, "a set of tables is 64 bits");

/* What runs on the device. */
#define TABLES_OPERATIONS (TABLE(kernels) | TABLE(copies) | TABLE(memsets) | TABLE(graphs))

/* Kernels with all that is told of each: which of them were counted, and how they were launched (calls, which tell
 * whose the attributes are, are then read where there are any). */
#define TABLES_KERNELS \
	(TABLE(kernels) | TABLE(launch_attributes) | TABLE(counted) | TABLE(counters))

/* What a run's steady state is found in: operations, and which call submitted each. */
#define TABLES_STEADY (TABLES_OPERATIONS | TABLE(api))

#endif
