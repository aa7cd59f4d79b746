/*
 * counted.h - counters joined with launches and their times: what each kernel did, in all.
 *
 * Counters stand for a launch signature and a few of its launches; here they become totals of all
 * launches of a kernel name, of a counted graph, and of the application.  Pure; prints nothing.
 *
 * Time: a launch whose code was instrumented (COUNTED_PATCHED) is never timed.  Of a signature the
 * launches that were not counted are timed; those counted in hardware only where there are none of
 * the former.  A signature takes its mean over timed launches for each launch; one without timed
 * launches the mean of its kernel.
 *
 * Totals: the sum over signatures with samples of mean * launches, enlarged by the time of all
 * signatures by that of those (by launches where there are no times), so that a total by the time
 * is the rate of what was counted.
 *
 * The application is all kernels that ran outside of counted graphs, and these graphs.
 */
#ifndef ROOFLINE_ANALYSIS_COUNTED_H
#define ROOFLINE_ANALYSIS_COUNTED_H

#include "trace/profile.h"

/* One role of roofline/metrics.h. */
struct counted_role {
	uint64_t sample_count; /* 0: not known, and so is all else */
	double total;	       /* of all launches; of a percentage, total / launches is the mean */
	double covered_share;  /* of the time, or of launches: signatures that have samples */
};

struct counted_work {
	uint64_t launch_count;
	uint64_t graph_node_count; /* of the launches those that were nodes of graphs */
	uint64_t timed_count;	   /* launches that the time stands on */
	double time_ns;		   /* of all launches; 0 when none was timed */
	struct counted_role roles[METRIC_ROLE_COUNT];
};

/* One launch of a counted graph. */
struct counted_launch {
	uint32_t graph;		  /* counted_graphs[] */
	int64_t start_ns, end_ns; /* first node's start, last node's end */
	bool is_counted;
};

struct counted {
	struct counted_work *kernels; /* as profile->kernel_names[] */
	struct counted_work *graphs;  /* as profile->counted_graphs[] */
	struct counted_work application;
};

/* The caller frees with counted_free.  Fails with -ENOMEM only. */
int counted_build(struct counted **out, const struct profile *profile, struct err *err);
void counted_free(struct counted *counted);

/* counted_graphs[] that an operation belongs to, or PROFILE_NONE. */
uint32_t counted_graph_of(const struct profile *profile, const struct profile_op *op);

#endif
