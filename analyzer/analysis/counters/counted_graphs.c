#define _GNU_SOURCE /* qsort_r */

#include "analysis/counters/counted_graphs.h"

#include <errno.h>
#include <stdlib.h>

static int compare_graphs(const void *left, const void *right, void *context)
{
	const struct profile *profile = context;
	const struct profile_counted_graph *a = &profile->counted_graphs[*(const uint32_t *)left];
	const struct profile_counted_graph *b = &profile->counted_graphs[*(const uint32_t *)right];

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return (a->graph > b->graph) - (a->graph < b->graph);
}

int counted_graphs_order(struct counted *counted)
{
	const struct profile *profile = counted->profile;
	size_t count = profile->counted_graph_count;

	counted->graph_order = calloc(count + 1, sizeof(*counted->graph_order));
	if (!counted->graph_order)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		counted->graph_order[i] = (uint32_t)i;
	qsort_r(counted->graph_order, count, sizeof(*counted->graph_order), compare_graphs,
		(void *)profile);
	return 0;
}

uint32_t counted_graph_of(const struct counted *counted, const struct profile_op *op)
{
	const struct profile *profile = counted->profile;
	size_t low = 0, high = op->graph ? profile->counted_graph_count : 0;
	uint32_t process = high ? profile_op_process(profile, op) : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint32_t index = counted->graph_order[middle];
		const struct profile_counted_graph *graph = &profile->counted_graphs[index];

		if (graph->process == process && graph->graph == op->graph)
			return index;
		if (graph->process < process ||
		    (graph->process == process && graph->graph < op->graph))
			low = middle + 1;
		else
			high = middle;
	}
	return PROFILE_NONE;
}
