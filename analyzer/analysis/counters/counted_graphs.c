#define _GNU_SOURCE /* qsort_r */

#include "analysis/counters/counted_graphs.h"

#include "base/search.h"

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

struct wanted_graph {
	const struct counted *counted;
	uint32_t process, graph;
};

static int compare_wanted(size_t place, const struct wanted_graph *wanted)
{
	const struct counted *counted = wanted->counted;
	const struct profile_counted_graph *graph =
		&counted->profile->counted_graphs[counted->graph_order[place]];

	if (graph->process != wanted->process)
		return graph->process < wanted->process ? -1 : 1;
	return (graph->graph > wanted->graph) - (graph->graph < wanted->graph);
}

static bool is_wanted_or_later(size_t place, const void *wanted)
{
	return compare_wanted(place, wanted) >= 0;
}

uint32_t counted_graph_of(const struct counted *counted, const struct profile_op *op)
{
	const struct profile *profile = counted->profile;
	struct wanted_graph wanted = {.counted = counted, .graph = profile_op_graph(profile, op)};
	size_t count = wanted.graph ? profile->counted_graph_count : 0, place;

	if (!count)
		return PROFILE_NONE;
	wanted.process = profile_op_process(profile, op);
	place = search_first(0, count, is_wanted_or_later, &wanted);
	return place < count && compare_wanted(place, &wanted) == 0 ? counted->graph_order[place]
								    : PROFILE_NONE;
}
