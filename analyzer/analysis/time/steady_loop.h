/*
 * steady_loop.h - the loop of kernels that takes most of a device's time, and how long each of its iterations takes.
 *
 * Found by what threads submit again and again (loops.h), without NVTX.  An iteration is timed on the device: it
 * lasts until the last of its operations has ended, from when that of the iteration before had.  So iterations
 * follow each other without a hole, also where the host submits several before the first has ended, and the host's
 * pause before an iteration is part of it.
 *
 * A loop that runs again is the same one.  The one with most time is that whose median iteration, times how many
 * there are, is the longest: one pause of seconds makes no loop important.  Loops without kernels do not count.
 *
 * What is repeated around loops (loops_find_around()) counts where it communicates with other GPUs and the loops in it do
 * not: a step of a job ends where its GPUs meet.
 *
 * The first iteration loads code and finds cold caches, and so may those after it: they are warm-up until one takes no
 * longer than nine of ten of the second half of all do.  An interpreter collects garbage or prints now and then: the usual iterations are
 * those from the tenth percentile to the ninetieth, and only they say what an iteration takes.
 */
#ifndef ROOFLINE_STEADY_LOOP_H
#define ROOFLINE_STEADY_LOOP_H

#include "analysis/loops/loops.h"
#include "analysis/time/op_ends.h"

struct steady_loop {
	size_t device; /* profile->devices[] */
	uint32_t *
		members; /* owned; loops->items[]: the same loop, each time that it runs, by first call */
	size_t member_count;
	size_t warm_up_count;		    /* iterations before the first steady one */
	size_t count;			    /* steady ones; 0: too few, or no loop at all */
	int64_t low_ns, median_ns, high_ns; /* of an iteration: 10th, 50th and 90th percentile */
};

/* What the iterations are of. */
struct looped_run {
	const struct profile *profile;
	const struct submissions *submissions;
	const struct loops *loops;     /* those around others stand behind them */
	const struct op_ends *op_ends; /* in a replay; NULL: as recorded */
	/* By op: when it started there, or if that is NULL how long it took, 0 or NULL: as recorded, negative: no time. */
	const int64_t *op_start_ns, *changed_ns;
};

/* Linear in the operations of loops, for each device.  Returns 0 or -ENOMEM; free also after a failure. */
int steady_loop_find(struct steady_loop *out, const struct looped_run *run, size_t device);
void steady_loop_free(struct steady_loop *steady);

struct steady_iteration {
	int64_t start_ns, end_ns;    /* recorded */
	int64_t first_ns;	     /* likewise, when its first operation began */
	int64_t run_ns;		     /* how long it takes in run: as recorded, or in its replay */
	bool is_usual;		     /* its recorded time lies between low_ns and high_ns */
	size_t first_call, end_call; /* calls[] */
};

/* Calls visit for each steady iteration in order; a non-zero return stops and is passed on. */
typedef int (*steady_visitor)(const struct steady_iteration *iteration, void *context);
int steady_loop_visit(const struct steady_loop *steady, const struct looped_run *run,
		      steady_visitor visit, void *context);

/* The usual iterations together. */
struct steady_usual {
	int64_t ns;
	uint64_t count,
		empty_count; /* of them, those that take no time in the run: what they did is another's */
};

struct steady_usual steady_loop_usual(const struct steady_loop *steady,
				      const struct looped_run *run);

/* How long so many steady iterations in a row take, the median of all such rows; 0 without any.  It holds also where
 * every fourth is interrupted.  Returns 0 or -ENOMEM. */
int steady_loop_median_ns(int64_t *out, const struct steady_loop *steady,
			  const struct looped_run *run, size_t row_count);

#endif
