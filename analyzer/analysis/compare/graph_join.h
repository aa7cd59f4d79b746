/*
 * graph_join.h - are the two runs of --graphs=both the same, and which graph is which?
 *
 * The ids of graphs differ from run to run, so launches are compared in their order: the n-th launch
 * of a process is of its k-th graph, counted by first launch, in both runs or the runs differed.
 * Processes are matched by rank, else in the order of their start.  Only launches by the host count;
 * what the device launches is what the first run cannot see.  Pure.
 */
#ifndef ROOFLINE_GRAPH_JOIN_H
#define ROOFLINE_GRAPH_JOIN_H

#include "trace/profile.h"

/* A graph that the host launched, in both runs. */
struct graph_pair {
	uint32_t process, graph;	 /* in the first run */
	uint32_t run_process, run_graph; /* in profile->graph_run */
	uint64_t launch_count;
	uint32_t node_count; /* nodes of the first launch, as the first run saw them */
	uint32_t signature;  /* signatures[] of its first kernel, or PROFILE_NONE */
};

struct graph_join {
	char difference[640]; /* a sentence, without its full stop; "" when the runs are joined */
	struct graph_pair *pairs; /* by run_process, then run_graph; none when the runs differed */
	size_t pair_count;
	uint64_t launch_count; /* of all pairs */
};

/* Joins profile and profile->graph_run; *out is NULL where there is no second run. */
int graph_join_build(struct graph_join **out, const struct profile *profile, struct err *err);

/* The pair of a graph of the second run, or NULL; join may be NULL. */
const struct graph_pair *graph_join_find(const struct graph_join *join, uint32_t run_process,
					 uint32_t run_graph);

void graph_join_free(struct graph_join *join);

#endif
