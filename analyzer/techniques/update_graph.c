/*
 * update_graph.c - executable graphs are kept and updated, in place of new ones.
 *
 * Of a thread's graphs that have as many nodes as the one instantiated before them each is an update of that, which is
 * destroyed no more, and launched not for the first time.
 */
#include "techniques/techniques.h"

#include "replay/graph_calls.h"

/* Graphs that a thread instantiates for nearly every launch, at least so many. */
#define REBUILT_LEAST 8
/* Launches for each graph that is instantiated, at most: then they are not made to be launched again and again. */
#define LAUNCHES_MOST 2

static const char not_rebuilt[] = "no thread instantiates a graph for nearly every launch of one";
static const char other_nodes[] =
	"no graph has as many recorded nodes as the one instantiated before it";

/* In place of making an executable graph. */
static const struct call_change exec_update = {.host = COST_GRAPH_UPDATE,
					       .submission = SUBMITS_NOTHING};
/* So this launch of it is not the first, but one of updated nodes. */
static const struct call_change launch_again = {.prepare = COST_UPDATED_NODES,
						.host = COST_GRAPH_LAUNCH,
						.start = COST_GRAPH_TO_START};

/* Of a thread's graphs, as its calls are gone through. */
struct keeping {
	struct change *change;
	const struct model *model;
	uint64_t node_count; /* of the graph that was instantiated last; 0: unknown */
	size_t destroying; /* the last call that destroys one, since then; as many as there are calls: none */
	uint64_t kept_count;	     /* graphs that are updates */
	size_t first_call, end_call; /* from the first call that changes to the last one */
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
static void set_call(struct keeping *keeping, size_t call, uint8_t what)
{
	keeping->change->calls[call] = what;
	if (call < keeping->first_call)
		keeping->first_call = call;
	if (call >= keeping->end_call)
		keeping->end_call = call + 1;
}

/* Another technique may have changed one of them. */
static bool is_kept(const struct keeping *keeping, size_t call)
{
	return call == keeping->model->profile->call_count ||
	       keeping->change->calls[call] == CALL_KEPT;
}

static void update(struct keeping *keeping, size_t call, size_t launch)
{
	set_call(keeping, call, change_number(keeping->change, &exec_update));
	if (graph_call_before(keeping->model, launch) == GRAPH_CALL_INSTANTIATES)
		set_call(keeping, launch, change_number(keeping->change, &launch_again));
	if (keeping->destroying < keeping->model->profile->call_count)
		set_call(keeping, keeping->destroying, CALL_DROPPED);
	keeping->kept_count++;
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

/* Returns why no graph of a thread is kept, or NULL. */
static const char *keep_graphs(struct keeping *keeping, const struct profile_thread *thread)
{
	const struct model *model = keeping->model;
	size_t first = thread->first_call, end = first + thread->call_count;

	keeping->first_call = end;
	keeping->destroying = model->profile->call_count;
	if (!is_rebuilding(model, first, end))
		return not_rebuilt;
	for (size_t i = first; i < end; i++) {
		enum graph_call what = graph_call_of(model, i);

		if (what == GRAPH_CALL_DESTROYS)
			keeping->destroying = i;
		else if (what == GRAPH_CALL_INSTANTIATES)
			instantiate(keeping, i);
	}
	return keeping->kept_count ? NULL : other_nodes;
}

static int change_run(struct application *application)
{
	const struct model *model = application->run->model;
	struct effect *effect = application->effect;
	int rc = 0;

	if (!costs_has_rebuilt(application->run->ceilings)) {
		effect->refusal = refused_not_measured;
		return 0;
	}
	for (size_t i = 0; rc == 0 && i < model->profile->thread_count; i++) {
		struct keeping keeping = {.change = &application->change, .model = model};
		const char *refusal = keep_graphs(&keeping, &model->profile->threads[i]);

		if (refusal == other_nodes)
			effect->refusal = refusal;
		if (refusal)
			continue;
		effect->changed_count += keeping.kept_count;
		rc = application_keep_calls(application, keeping.first_call, keeping.end_call);
	}
	return rc;
}

const struct technique technique_update_graph = {
	.id = "update_graph",
	.option = "update",
	.help = "graphs that are instantiated again and again are updated",
	.effect =
		"Where a thread instantiates a graph for nearly every launch (at least 8), it updates the "
		"previous executable graph instead (cudaGraphExecUpdate), if that has as many nodes. "
		"Needs the nodes in the recording (not --graphs=graph).",
	.changed = "graphs are updates",
	.refusal = not_rebuilt,
	.bound = BOUND_BUSY,
	.spread = SPREAD_LAUNCH,
	.change_run = change_run,
};
