/*
 * graph_structure.h - the nodes and edges of CUDA graphs, as they are made.
 */
#ifndef ROOFLINE_GRAPH_STRUCTURE_H
#define ROOFLINE_GRAPH_STRUCTURE_H

#include "cupti_api.h"

void graph_structure_start(const struct cupti_api *cupti, CUpti_SubscriberHandle subscriber);

/* On a resource callback.  Returns false when it is not about nodes of graphs. */
bool graph_structure_on_resource(CUpti_CallbackId id, const CUpti_GraphData *graph);

/* CUPTI's number of a node, 0 when it tells none. */
uint64_t graph_structure_node_id(CUgraphNode node);

#endif
