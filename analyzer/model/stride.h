/*
 * stride.h - how many iterations of a loop make one step of the program.
 *
 * The shortest repetition may be a layer of a network or one of its heads, and the program goes through several
 * before it comes to its own loop again.  That shows in the pauses of the host: every so many iterations one is longer.
 */
#ifndef ROOFLINE_STRIDE_H
#define ROOFLINE_STRIDE_H

#include "model/model.h"
#include "model/sequence.h"

#define STRIDE_MOST 64 /* iterations in a step */

struct stride {
	size_t iteration_count; /* of a step; 1: each is one, as far as pauses tell */
	size_t first;		/* iteration that begins one, less than iteration_count */
};

/* Of a loop that waits now and then each iteration is a step.  Looks at a few hundred iterations. */
struct stride stride_of(const struct model *model, const struct sequence *sequence);

/* The iteration with which the step after that of this one begins; the sequence's iteration_count where it is the last. */
size_t stride_next(const struct stride *stride, const struct sequence *sequence, size_t iteration);

#endif
