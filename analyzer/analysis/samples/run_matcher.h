/*
 * run_matcher.h - which operations of the trace a run of work in the samples belongs to.
 *
 * Private to device_work.c.
 */
#ifndef ROOFLINE_RUN_MATCHER_H
#define ROOFLINE_RUN_MATCHER_H

#include <stddef.h>

#include "analysis/samples/sample_runs.h"
#include "trace/profile.h"

/* What a run rather belongs to than to anything before it: a graph of the device, a kernel, a graph. */
enum rank { RANK_OTHER, RANK_GRAPH, RANK_KERNEL, RANK_DEVICE_GRAPH, RANK_COUNT };

/* Operations of one rank.  longer[i] is one more than the place of the nearest before ops[i] that ends
 * later than it, 0 without: so a search for what still ran skips what had ended. */
struct ranked {
	uint32_t *ops, *longer;
	size_t count;
};

/* One device while runs and operations are matched. */
struct run_matcher {
	const struct profile *profile;
	uint32_t device;
	const struct profile_op *ops; /* of the device */
	size_t op_count;
	uint32_t *latest; /* of ops[0..i], which ends last */
	struct ranked ranked[RANK_COUNT];
	uint32_t *rank_slots; /* owned; what ranked[] points into */
};

/* What the trace knows of a run. */
struct known_run {
	ptrdiff_t first; /* operation with which it begins, -1: none */
	uint64_t kernel_count, block_count;
	bool is_counted; /* every block of it could be the trace's: no graph hides its nodes */
	int64_t next_ns; /* the next operation begins; INT64_MAX */
};

/* Returns 0 or -ENOMEM; run_matcher_close in either case. */
int run_matcher_open(struct run_matcher *matcher, const struct profile *profile, uint32_t device);
void run_matcher_close(struct run_matcher *matcher);

struct known_run run_matcher_look_up(const struct run_matcher *matcher,
				     const struct sample_run *run);

/* The operation that still ran at the time: of several the best by rank, then the latest; or -1. */
ptrdiff_t run_matcher_find_cover(const struct run_matcher *matcher, int64_t time_ns);

/* The operation that ended last before the time; or -1. */
ptrdiff_t run_matcher_find_before(const struct run_matcher *matcher, int64_t time_ns);

bool run_matcher_is_device_graph(const struct run_matcher *matcher, const struct profile_op *op);

#endif
