/*
 * counted.h - counters joined with launches and their times: what each kernel did, in all.
 *
 * Counters belong to a launch signature and were read for a few of its launches; here they become totals of all
 * launches of a kernel name, of a counted graph, and of the application.  Pure; prints nothing.
 *
 * Time: a launch whose code was instrumented (COUNTED_PATCHED) is never timed.  Of a signature the
 * launches that were not counted are timed; those counted in hardware only where there are none of
 * the former; in a replay, which times nothing, its range_ns.  A signature takes its mean over timed launches for each launch; one without timed
 * launches the mean of its kernel.
 *
 * Totals: the sum over signatures with samples of mean * launches, enlarged by the time of all
 * signatures by that of those (by launches where there are no times), so that a total by the time
 * is the rate of what was counted.
 *
 * The application is all kernels that ran outside counted graphs, and these graphs.
 */
#ifndef ROOFLINE_ANALYSIS_COUNTED_H
#define ROOFLINE_ANALYSIS_COUNTED_H

#include "analysis/time/gaps.h"
#include "trace/profile.h"

/* One role of roofline/metrics.h. */
struct counted_role {
	uint64_t sample_count; /* 0: not known, and so is all else */
	double total;	       /* of all launches; of a percentage, total / launches is the mean */
	double covered_share;  /* of the time, or of launches: signatures that have samples */
};

/*
 * Idle time after launches, until the next operation of the device.  Launches next to a counted one are left
 * out, because reading counters takes time, and so is the time that tracing took.  The last operation of a
 * device is followed by nothing.
 */
struct counted_idle {
	uint64_t launch_count; /* whose idle time is known */
	double busy_ns;	       /* the device's, during these launches; each moment once */
	double kernel_ns; /* of the application: in which kernels, or graphs recorded as a whole, ran */
	double idle_ns;	       /* after them */
	double children_ns;    /* after them, when child kernels may have run: no part of idle_ns */
	double launch_idle_ns; /* the part with cause launch, sync, graph or device of gaps.h */
};

/* Instructions of half precision that compute: ptxas also sets registers to constants with HFMA2, and converts with
 * HADD2, which the counters count as well.  The machine code tells which kernels have which. */
enum counted_half { HALF_add, HALF_mul, HALF_fma, HALF_COUNT };

struct counted_work {
	uint64_t launch_count;
	uint64_t graph_node_count;	  /* of the launches those that were nodes of graphs */
	uint64_t timed_count;		  /* launches that were timed */
	double time_ns;			  /* of all launches; 0 when none was timed */
	const struct counted_role *roles; /* METRIC_ROLE_COUNT, as counted; of struct counted */
	/* The same for METRIC_fp16_add and following, 0 of kernels whose code computes nothing in half precision. */
	struct counted_role half[HALF_COUNT];
	bool has_untrusted_half; /* some is counted of a kernel whose machine code is not in the recording */
	bool has_mixed_half; /* or of one that has arithmetic beside constants or conversions: it is at most that */
	struct counted_idle idle; /* of the application: after all operations, also copies */
};

struct counted {
	struct counted_work *kernels; /* as profile->kernel_names[] */
	struct counted_work *graphs;  /* as profile->counted_graphs[] */
	struct counted_work application;
	/* Those of kernels, graphs and the application, one after the other; without counters all have the same, of which
	 * nothing is known: a program may have more kernels than there is room for them. */
	struct counted_role *roles;
	const struct profile *profile; /* borrowed */
	uint32_t *graph_order;	       /* counted_graphs[] by process and graph */
};

/* But for idle time.  Fails with -ENOMEM only; the caller frees with counted_free. */
int counted_build(struct counted **out, const struct profile *profile, struct err *err);
void counted_free(struct counted *counted);

/* Idle time of any device: all gaps have to be added. */
void counted_add_gap(struct counted *counted, const struct gap *gap);

/* L2 cycles that passed while all launches ran, by the clock that their ranges show (a range is longer
 * than its launch); 0 when unknown. */
double counted_l2_cycles(const struct counted_work *work);

#endif
