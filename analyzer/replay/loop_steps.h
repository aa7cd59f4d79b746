/*
 * loop_steps.h - how many iterations of a loop make one step of the program.
 *
 * The shortest repetition may be a layer of a network or one of its heads, and the program goes through several
 * before it comes to its own loop again.  That shows in the pauses of the host: every so many iterations one is longer.
 */
#ifndef ROOFLINE_LOOP_STEPS_H
#define ROOFLINE_LOOP_STEPS_H

#include "replay/model.h"
#include "analysis/loops/loops.h"

#define LOOP_STEP_MOST 64 /* iterations in a step */

struct loop_step {
	size_t iteration_count; /* of a step; 1: each is one, as far as pauses tell */
	size_t first;		/* iteration that begins one, less than iteration_count */
};

/* Of a loop that waits now and then each iteration is a step.  Looks at a few hundred iterations. */
struct loop_step loop_step_of(const struct model *model, const struct loop *loop);

/* Of a loop whose iterations differ in sizes or grids: after so many, LOOP_STEP_MOST at most, they are those that they were.
 * 0: they are not, or it is after one. */
size_t loop_sizes_repeat(const struct model *model, const struct loop *loop);

/* The iteration with which the step after that of this one begins; the sequence's iteration_count where it is the last. */
size_t loop_step_next(const struct loop_step *loop_step, const struct loop *loop, size_t iteration);

#endif
