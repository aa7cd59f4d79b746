/*
 * graph_events.h - the events of a graph that is launched for several streams (forks.h), or for calls that record events.
 *
 * An event of the program that these recorded must stand for the same afterwards, as it may be asked for, waited for or
 * recorded anew: it is recorded in front of the graph, in it or behind it, whichever is where it was recorded last.
 * Each stream but the first has two more: one that is recorded in it before, which the graph waits for, and one for which it
 * waits afterwards.
 */
#ifndef ROOFLINE_TRY_GRAPH_EVENTS_H
#define ROOFLINE_TRY_GRAPH_EVENTS_H

#include "forks.h"

enum event_place { IN_FRONT, INSIDE, BEHIND };

struct graph_events {
	struct graph_event {
		CUevent event;
		enum event_place place;
	} events[QUEUE_ITEMS + FORKS_STREAMS];
	unsigned event_count;
	struct graph_stream {
		CUstream stream;
		CUevent before, after;
		bool is_after_own; /* else one of the program's */
	} streams[FORKS_STREAMS];  /* but for the first one */
	unsigned stream_count;
};

/* What the graph waits for at first, one node for each stream but the first; nodes are by bit. */
bool graph_events_begin(struct graph_events *events, const struct forks *forks, CUgraph graph,
			CUgraphNode *nodes);

/* What it records, once all nodes are there. */
bool graph_events_end(struct graph_events *events, const struct forks *forks,
		      const struct item *items, CUgraph graph, const CUgraphNode *nodes);

/* In front of and behind the launch of the graph into the first stream. */
CUresult graph_events_before_launch(const struct graph_events *events, CUstream stream);
CUresult graph_events_after_launch(const struct graph_events *events, CUstream stream);

bool graph_events_has(const struct graph_events *events, CUevent event);
void graph_events_free(struct graph_events *events);

/* Those of a set, in an array; how many there are. */
unsigned graph_events_nodes(node_set set, unsigned bits, const CUgraphNode *nodes,
			    CUgraphNode *found);

#endif
