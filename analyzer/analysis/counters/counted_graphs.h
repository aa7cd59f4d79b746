/*
 * counted_graphs.h - which of the graphs that were counted as a whole an operation belongs to.
 *
 * Private to counted.c and counted_idle.c.
 */
#ifndef ROOFLINE_ANALYSIS_COUNTED_GRAPHS_H
#define ROOFLINE_ANALYSIS_COUNTED_GRAPHS_H

#include "analysis/counters/counted.h"

/* Fills in counted->graph_order, before the first look-up.  Returns 0 or -ENOMEM. */
int counted_graphs_order(struct counted *counted);

/* counted_graphs[] that an operation belongs to, or PROFILE_NONE. */
uint32_t counted_graph_of(const struct counted *counted, const struct profile_op *op);

#endif
