#include "graph_structure.h"

#include "arguments/arguments.h"
#include "program_rows.h"

static const struct cupti_api *cupti;

uint64_t graph_structure_node_id(CUgraphNode node)
{
	uint64_t id = 0;

	return node && cupti && cupti->cuptiGetGraphNodeId(node, &id) == CUPTI_SUCCESS ? id : 0;
}

static uint32_t graph_id(CUgraph graph)
{
	uint32_t id = 0;

	return graph && cupti->cuptiGetGraphId(graph, &id) == CUPTI_SUCCESS ? id : 0;
}

/* Instantiating a graph clones its nodes; it is the clones that run. */
static void put_node(const CUpti_GraphData *graph, bool is_clone)
{
	uint64_t node = graph_structure_node_id(graph->node);

	if (!is_clone && graph->nodeType == CU_GRAPH_NODE_TYPE_KERNEL)
		arguments_on_graph_node(node);
	program_rows_put_graph_node(&(struct trace_graph_nodes_row){
		.node = node,
		.graph = graph_id(graph->graph),
		.kind = graph->nodeType,
		.original = graph_structure_node_id(graph->originalNode),
	});
}

static void put_edge(const CUpti_GraphData *graph)
{
	program_rows_put_graph_edge(&(
		struct trace_graph_edges_row){.node = graph_structure_node_id(graph->node),
					      .dependency =
						      graph_structure_node_id(graph->dependency)});
}

bool graph_structure_on_resource(CUpti_CallbackId id, const CUpti_GraphData *graph)
{
	bool is_node = id == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED ||
		       id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED;
	bool is_edge = id == CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED;

	if (is_node && graph)
		put_node(graph, id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
	else if (is_edge && graph)
		put_edge(graph);
	return is_node || is_edge;
}

void graph_structure_start(const struct cupti_api *api, CUpti_SubscriberHandle subscriber)
{
	static const CUpti_CallbackId ids[] = {CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
					       CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
					       CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED};

	if (!api->cuptiGetGraphNodeId || !api->cuptiGetGraphId)
		return;
	cupti = api;
	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++)
		cupti->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, ids[i]);
}
