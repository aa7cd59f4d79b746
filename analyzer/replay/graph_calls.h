/*
 * graph_calls.h - calls that make, update, launch and destroy executable graphs, and which of them belong together.
 *
 * No record tells which executable graph a call is about.  Here it is that of the thread's next launch for an
 * instantiation and an update, and that of its last launch for a destruction, if there is no other such call in between.
 * Looking for it takes time that goes with the calls in between, of all calls together with all calls.
 */
#ifndef ROOFLINE_GRAPH_CALLS_H
#define ROOFLINE_GRAPH_CALLS_H

#include "replay/model.h"

enum graph_call {
	GRAPH_CALL_NONE, /* nothing of these, or it failed */
	GRAPH_CALL_INSTANTIATES,
	GRAPH_CALL_UPDATES, /* all of it, by another graph */
	GRAPH_CALL_SETS_NODE,
	GRAPH_CALL_UPLOADS,
	GRAPH_CALL_LAUNCHES,
	GRAPH_CALL_DESTROYS,
};

/* By that name, if it succeeds. */
enum graph_call graph_call_of_name(const struct profile_call_name *name);

enum graph_call graph_call_of(const struct model *model, size_t call);

/* The launch of the executable graph that a call is about, one of those above; PROFILE_NONE: unknown. */
uint32_t graph_call_launch(const struct model *model, size_t call);

/* What was done to the executable graph since the launch before: instantiated, so this is its first launch, updated, all of
 * it or a node, or uploaded, so nothing is left to do; of a launch as it was GRAPH_CALL_LAUNCHES, or GRAPH_CALL_NONE. */
enum graph_call graph_call_before(const struct model *model, size_t launch);

/* Nodes of the graph that a call launches; 0: unknown, as of one that was recorded as a whole. */
uint64_t graph_call_node_count(const struct model *model, size_t launch);

#endif
