/*
 * loops.h - what a thread submits again and again.
 *
 * A token is one submitting call (a launch, a copy, a memset, a graph launch)
 * with what it submits, without sizes that vary: the kernel's name, the copy's
 * kind, the graph.  A loop is a stretch of one thread's submitting calls in
 * which token i equals token i - period nearly always.  Calls in between (waits,
 * events, allocations) belong to the iteration that they stand in.
 *
 * An iteration may have tokens too many, too few or other ones: up to half of
 * the period, and one where that is less; up to four, as around an inner loop,
 * where that comes again within 32 iterations.  Iterations begin after the longest
 * usual pause of the host; where none stands out, where the first one began.  Where a thread runs a loop several
 * times, all begin as most of their iterations did.
 */
#ifndef ROOFLINE_LOOPS_H
#define ROOFLINE_LOOPS_H

#include "analysis/loops/submissions.h"
#include "trace/profile.h"

#define LOOP_LEAST_ITERATIONS 8
#define MAINLY_LOOPED 0.5 /* of what a thread does, where it mainly repeats something */

struct loop {
	uint32_t thread; /* threads[] */
	size_t first_call,
		call_count;	/* calls[] of the thread, from the first submitting call of the
					  * first iteration to the last call before the next iteration's */
	size_t iteration_count; /* whole ones */
	uint32_t *iterations;	/* owned: iteration_count + 1 calls[]: the first submitting call
					  * of each, and the end of the last */
	size_t period;		/* submitting calls an iteration, where it is exact */
	double regularity; /* 0.5 to 1: the share of tokens that are those of the usual iteration */
	double exactness;  /* 0 to regularity: the share whose sizes and grids are so, too */
	bool is_exact;	   /* exactness is 1: all iterations are one */
	uint32_t shape;	   /* hash of the usual iteration: equal when one loop runs again */
	uint32_t circle;   /* likewise, wherever its iterations begin */
	size_t kind_count; /* different iterations that come again in no order (loop_anchors.h); 1: all are alike */
	size_t first_within,
		within_count; /* of what is repeated around loops: which; of a loop itself 0 */
};

struct loops {
	struct loop *items; /* by thread, then first_call; they do not overlap */
	size_t count;
};

/* Linear in calls and operations.  Returns 0 or -ENOMEM; free also after a failure. */
int loops_find(struct loops *found, const struct profile *profile,
	       const struct submissions *submissions);

/* What a thread repeats around them: in which one of these loops, as a whole, comes again and again, with the same
 * other calls in between.  Its iterations begin where the first one did.  loops: what loops_find() found; not changed.
 * As loops_find(). */
int loops_find_around(struct loops *found, const struct profile *profile,
		      const struct submissions *submissions, const struct loops *loops);
void loops_free(struct loops *found);

#endif
