/*
 * usual_changes.h - what several techniques make of a call.
 */
#ifndef ROOFLINE_USUAL_CHANGES_H
#define ROOFLINE_USUAL_CHANGES_H

#include "replay/change.h"

extern const struct call_change
	graph_launch; /* becomes the launch of a graph that begins with its operations */
extern const struct call_change graph_node;   /* its operations are nodes of that graph, in a row */
extern const struct call_change asynchronous; /* submits what it did, and waits for nothing */

#endif
