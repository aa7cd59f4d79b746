/*
 * graph_bodies.h - what the calls of a loop have to be to become parts of a graph.
 */
#ifndef ROOFLINE_GRAPH_BODIES_H
#define ROOFLINE_GRAPH_BODIES_H

#include "techniques/application.h"

/* Whether an iteration of the loop launches a graph. */
bool graph_bodies_launch_graphs(const struct model *model, const struct loop *loop);

/* Why no graph may have what call does, also where it launches one; NULL where one may, or where another technique has
 * dropped the call. */
const char *graph_bodies_refuse_call(const struct application *application, size_t call);

/* Of the first of calls [first, end) for which there is a reason. */
const char *graph_bodies_refuse_calls(const struct application *application, size_t first,
				      size_t end);

#endif
