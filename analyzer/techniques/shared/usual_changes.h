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
/* Copies whose memory the engine reads and writes itself: the call neither fills a buffer of the driver before they start
 * nor empties one after they have ended. */
extern const struct call_change pinned_asynchronous;
extern const struct call_change pinned_blocking; /* and returns after its copy has ended */

#endif
