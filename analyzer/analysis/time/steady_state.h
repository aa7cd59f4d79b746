/*
 * steady_state.h - the part of a run that repeats, apart from what happens once.
 *
 * For each device: the loop of kernels that takes most time (steady_loop.h) is its steady state, when kernels run for
 * longer in it than in all the rest.  Of a job that is asked of its own kernels as well: those of NCCL and NVSHMEM take as
 * long as other ranks or the libraries' start-up do.  Otherwise the program does not mainly repeat one thing, and there is
 * none.
 * What is left of the run happens once: start-up, loading of code, first launches, warm-up, what follows the loop.
 * The run lasts from when the process was first seen, before its first operation, to its last event.
 *
 * An iteration that takes longer than all of them usually do together has something in it that happens once, as the check
 * of results between a warm-up and what is measured: it begins with its first operation, and is left out where that is
 * not enough.
 *
 * An iteration's own times are those of the usual iterations, divided by how many they are.
 *
 * When it is, is found first and needs no causes of idle time: steady_split.h divides any time by it.  On a device an
 * iteration lasts from the end of the one before it; for the host it begins with its first call, where that is earlier:
 * the host may be many iterations ahead.
 */
#ifndef ROOFLINE_STEADY_STATE_H
#define ROOFLINE_STEADY_STATE_H

#include "analysis/loops/submissions.h"
#include "analysis/time/gaps.h"
#include "analysis/time/once.h"
#include "analysis/time/steady_loop.h"
#include "analysis/time/timeline.h"
#include "base/spans.h"

/* Of a device's time. */
struct run_part {
	int64_t wall_ns; /* of the part that happens once also what lies around the operations */
	int64_t busy_ns, idle_ns;	      /* between first and last operation */
	int64_t kernel_ns;		      /* with at least one kernel or graph running */
	int64_t by_cause_ns[GAP_CAUSE_COUNT]; /* adds up to idle_ns exactly */
	uint64_t launch_count;		      /* calls that launched kernels and graphs */
	uint64_t operation_count;
};

/* How far times that come in order have been looked at: those of the steady state, and of usual iterations. */
struct steady_walk {
	size_t next_steady, next_usual;
};

struct steady_device {
	bool is_found; /* nothing below is known without */
	struct steady_loop loop;
	struct spans when, usual_when; /* sealed; owned */
	int64_t concurrency_ns[TIMELINE_MAX_CONCURRENCY +
			       1]; /* of the steady state, as in the timeline */
	/* Only with the causes of idle time: */
	int64_t run_ns; /* steady.wall_ns and once.wall_ns */
	struct run_part steady, once;
	struct run_part usual; /* of the usual iterations together, without counts */
	uint64_t usual_count;
	int64_t pause_ns; /* by how much iterations beyond the 90th percentile exceed the median, together */
	int64_t once_ns[ONCE_CAUSE_COUNT]; /* adds up to once.wall_ns */
	struct steady_walk gaps;	   /* over them */
};

struct steady_state {
	struct steady_device *devices; /* as profile->devices[] */
	size_t device_count;
	struct spans *
		host_when; /* by processes[], sealed; empty where a process has no loop that is found */
	size_t process_count;
	struct loops loops; /* owned */
	/* Those first, and behind them what is repeated around them: what steady loops are of.  The items are owned, of
	 * the iterations only those behind loops.count. */
	struct loops repeated;
	struct submissions submissions; /* owned; empty once it is measured */
};

/* What repeats.  Borrows the profile.  Fails with -ENOMEM only. */
int steady_state_open(struct steady_state **out, const struct profile *profile, struct err *err);

/* When it is.  Fails with -ENOMEM only. */
int steady_state_find(struct steady_state *steady_state, const struct profile *profile,
		      const struct timeline *timeline, struct err *err);

/* A gap of a device, of which some may lie in its steady state; those of a device come in order. */
void steady_state_add_gap(struct steady_state *steady_state, const struct profile *profile,
			  const struct gap *gap);

/* How many operations and launches lie in it and outside of it, once; beside adding gaps if need be.  Fails with -ENOMEM
 * only. */
int steady_state_count(struct steady_state *steady_state, const struct profile *profile,
		       const struct timeline *timeline, struct err *err);

/* What devices did in it and outside of it; once, when operations were counted and all gaps added.  Fails with -ENOMEM
 * only. */
int steady_state_measure(struct steady_state *steady_state, const struct profile *profile,
			 const struct timeline *timeline, const struct gap_analysis *gaps,
			 struct err *err);

/* All of it. */
int steady_state_build(struct steady_state **out, const struct profile *profile,
		       const struct timeline *timeline, const struct gap_analysis *gaps,
		       struct err *err);
void steady_state_free(struct steady_state *steady_state);

#endif
