/*
 * cuts.h - what of a loop a strategy may change: runs of its iterations, each of which it takes for a loop.
 *
 * Pure; knows calls, and neither strategies nor names of ranges.
 */
#ifndef ROOFLINE_CUTS_H
#define ROOFLINE_CUTS_H

#include "model/predict.h"
#include "model/sequence.h"

#define CUT_LEAST_ITERATIONS 2 /* fewer are no loop */

/* What it has to leave alone. */
struct cutting {
	const struct submitted *submitted;
	/* By first, apart: iterations of which something is submitted elsewhere.  NULL: nothing. */
	const struct place *places;
	size_t place_count;
	const bool *is_taken; /* by call: iterations that begin with such a one */
};

/* The next run of iterations from *next on, which goes on behind it; its iterations are borrowed.  False: there is
 * none any more.  A loop's first iteration loads code and finds cold caches, and warms up before a capture: it is in
 * no cut, and stays as it was.  That of a cut further on has all this behind it. */
bool cuts_next(struct sequence *cut, size_t *next, const struct sequence *loop,
	       const struct cutting *cutting);

/* Sorts places by first and makes one of those that have calls in common.  Returns how many are left. */
size_t places_merge(struct place *places, size_t count);

#endif
