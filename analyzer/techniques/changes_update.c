/* changes_update.c - executable graphs that are kept and updated, in place of new ones. */
#include "techniques/changes.h"

#include "replay/graph_calls.h"

/* Launches for each graph that is instantiated, at most: then they are not made to be launched again and again. */
#define LAUNCHES_MOST 2

/* Of a thread's graphs, as its calls are gone through. */
struct keeping {
	struct change *change;
	const struct model *model;
	struct updated *updated;
	uint64_t node_count; /* of the graph that was instantiated last; 0: unknown */
	size_t destroying; /* the last call that destroys one, since then; as many as there are calls: none */
};

static bool is_rebuilding(const struct model *model, size_t first, size_t end)
{
	uint64_t made_count = 0, launch_count = 0;

	for (size_t i = first; i < end; i++) {
		enum graph_call what = graph_call_of(model, i);

		made_count += what == GRAPH_CALL_INSTANTIATES;
		launch_count += what == GRAPH_CALL_LAUNCHES;
	}
	return made_count >= REBUILT_LEAST && launch_count <= LAUNCHES_MOST * made_count;
}

/* What is gone through is in order. */
static void put(struct keeping *keeping, size_t call, enum call_change what)
{
	struct updated *updated = keeping->updated;

	keeping->change->calls[call] = (uint8_t)what;
	if (call < updated->first_call)
		updated->first_call = call;
	if (call >= updated->end_call)
		updated->end_call = call + 1;
}

/* Another strategy may have changed one of them. */
static bool is_kept(const struct keeping *keeping, size_t call)
{
	return call == keeping->model->profile->call_count ||
	       keeping->change->calls[call] == CALL_KEPT;
}

static void update(struct keeping *keeping, size_t call, size_t launch)
{
	put(keeping, call, CALL_UPDATES);
	if (graph_call_before(keeping->model, launch) == GRAPH_CALL_INSTANTIATES)
		put(keeping, launch, CALL_AGAIN);
	if (keeping->destroying < keeping->model->profile->call_count)
		put(keeping, keeping->destroying, CALL_DROPPED);
	keeping->updated->graph_count++;
}

static void instantiate(struct keeping *keeping, size_t call)
{
	uint32_t launch = graph_call_launch(keeping->model, call);
	uint64_t node_count =
		launch == PROFILE_NONE ? 0 : graph_call_node_count(keeping->model, launch);

	if (node_count && node_count == keeping->node_count && is_kept(keeping, call) &&
	    is_kept(keeping, launch) && is_kept(keeping, keeping->destroying))
		update(keeping, call, launch);
	keeping->node_count = node_count;
	keeping->destroying = keeping->model->profile->call_count;
}

enum refusal change_to_updated(struct change *change, const struct model *model, size_t thread,
			       struct updated *updated)
{
	const struct profile *profile = model->profile;
	size_t first = profile->threads[thread].first_call;
	size_t end = first + profile->threads[thread].call_count;
	struct keeping keeping = {.change = change,
				  .model = model,
				  .updated = updated,
				  .destroying = profile->call_count};

	*updated = (struct updated){.first_call = end};
	if (!is_rebuilding(model, first, end))
		return REFUSED_NOT_REBUILT;
	for (size_t i = first; i < end; i++) {
		enum graph_call what = graph_call_of(model, i);

		if (what == GRAPH_CALL_DESTROYS)
			keeping.destroying = i;
		else if (what == GRAPH_CALL_INSTANTIATES)
			instantiate(&keeping, i);
	}
	return updated->graph_count ? REFUSED_NONE : REFUSED_OTHER_NODES;
}
