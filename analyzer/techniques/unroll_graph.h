/*
 * unroll_graph.h - how many iterations of a loop are worth one graph, for those who tell of it.
 */
#ifndef ROOFLINE_UNROLL_GRAPH_H
#define ROOFLINE_UNROLL_GRAPH_H

#include "techniques/application.h"

struct unrolled_graph {
	size_t iteration_count; /* of one graph; 1: more would bring too little to be told */
	size_t worth_count;	/* likewise, however little they bring */
	double nodes;		/* operations of an iteration */
	double gpu_ns;		/* they take one after the other in a graph */
	double launch_ns;	/* of the host, for one graph */
	double pause_ns;	/* of the host between iterations: its own work, which stays */
	double single_ns,
		unrolled_ns; /* an iteration, by a graph of its own, and by one of iteration_count */
};

struct unrolled_graph unroll_graph_of(const struct recorded_run *run, const struct loop *loop);

#endif
