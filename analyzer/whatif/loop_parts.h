/*
 * loop_parts.h - what of a loop a technique may change: runs of its iterations, each of which is a loop to it.
 *
 * Pure; knows calls, and neither techniques nor names of ranges.
 */
#ifndef ROOFLINE_LOOP_PARTS_H
#define ROOFLINE_LOOP_PARTS_H

#include "replay/prediction.h"
#include "analysis/loops/loops.h"

#define LOOP_PART_LEAST_ITERATIONS 2 /* fewer are no loop */

/* What it has to leave alone. */
struct loop_limits {
	const struct submissions *submissions;
	/* By first, apart: iterations of which something is submitted elsewhere.  NULL: nothing. */
	const struct place *places;
	size_t place_count;
	const uint8_t *taken_by; /* by call: not 0 where iterations that begin with it are taken */
	uint8_t shared_by;	 /* those taken by this one are free */
	/* Iterations that the loop begins with and that stay as they were: 1 of one that was not run before, whose first
	 * iteration loads code and finds cold caches, and warms up before a capture. */
	size_t kept_count;
};

/* The next run of iterations from *next on, which goes on behind it; its iterations are borrowed.  False: there is
 * none any more. */
bool loop_parts_next(struct loop *part_of_loop, size_t *next, const struct loop *loop,
		     const struct loop_limits *loop_limits);

/* Sorts places by first and makes one of those that have calls in common.  Returns how many are left. */
size_t places_merge(struct place *places, size_t count);

#endif
