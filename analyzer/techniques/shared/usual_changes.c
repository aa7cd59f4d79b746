#include "techniques/shared/usual_changes.h"

const struct call_change graph_launch = {.pause = PAUSE_SHARED,
					 .host = COST_GRAPH_LAUNCH,
					 .submission = SUBMITS_GRAPH,
					 .gap = COST_GRAPH_NODE_GAP};

const struct call_change graph_node = {.pause = PAUSE_GONE,
				       .host = COST_NONE,
				       .submission = SUBMITS_NODES,
				       .gap = COST_GRAPH_NODE_GAP};

const struct call_change asynchronous = {.host = COST_LAUNCH_CALL};

const struct call_change pinned_asynchronous = {.host = COST_LAUNCH_CALL,
						.start = COST_LAUNCH_TO_START};

const struct call_change pinned_blocking = {.host = COST_SYNCHRONIZE,
					    .waits = true,
					    .start = COST_LAUNCH_TO_START};
