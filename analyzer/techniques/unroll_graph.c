/*
 * unroll_graph.c - several iterations of a loop are one launch of a graph.
 *
 * A graph of one iteration is launched once for each, and its last node and the first one of the next have a longer gap
 * than nodes have.  Where the iteration takes less time than that costs, a graph of several iterations spares most of
 * it.  As many as bring it within LEFT_MOST of what endlessly many would, and more as long as launching fewer graphs saves
 * more than it takes to make and to first launch a larger one.
 */
#include "techniques/unroll_graph.h"

#include <math.h>

#include "replay/calls.h"
#include "replay/prediction.h"
#include "techniques/shared/graph_bodies.h"
#include "techniques/shared/usual_changes.h"
#include "techniques/techniques.h"

static const char long_iterations[] =
	"an iteration takes so long that a graph for each is as fast as one for several";
static const char single_calls[] = "a graph has several of these iterations of one launch already";
static const char host_waits[] = "the host waits, reads or computes between the iterations";
static const char sizes_differ[] = "sizes or grids differ between the iterations";

/* What launching may still cost: runs differ by as much. */
#define LEFT_MOST 1.05
/* A prediction may be off by as much, so less than that is not told from a graph for each iteration. */
#define LEAST_GAIN (1 + MODEL_MARGIN)
/* What the ceilings measured graphs of. */
#define NODES_MOST 1000
/* Sizes and grids of a loop that are those of the usual iteration less often than that: as cuda_graph has it. */
#define LEAST_ALIKE 0.9

/* The host's own time between iterations stays: it may be work. */
static const struct call_change next_iteration = {.pause = PAUSE_KEPT,
						  .host = COST_NONE,
						  .submission = SUBMITS_NODES,
						  .gap = COST_GRAPH_NODE_GAP};

/* ---- how many ---- */

/* An iteration's, where a graph has so many of them. */
static double period_ns(const struct unrolled_graph *found, const struct costs *costs,
			double iteration_count)
{
	double gap_ns = (double)(costs->graph_gap_ns - costs->graph_node_gap_ns);

	return fmax(found->pause_ns + found->launch_ns / iteration_count,
		    found->gpu_ns + fmax(gap_ns, 0) / iteration_count);
}

static double mean_pause_ns(const struct model *model, const struct loop *loop)
{
	double sum_ns = 0;

	for (size_t i = 1; i < loop->iteration_count; i++)
		sum_ns += (double)call_pause_ns(model, loop->iterations[i]);
	return loop->iteration_count > 1 ? sum_ns / (double)(loop->iteration_count - 1) : 0;
}

static void measure(struct unrolled_graph *found, const struct recorded_run *run,
		    const struct loop *loop)
{
	const struct model *model = run->model;
	const struct submissions *submissions = &model->submissions;
	uint32_t begin = submissions_first(submissions, loop->iterations[0]),
		 end = submissions_first(submissions, loop->iterations[loop->iteration_count]);
	double sum_ns = 0;

	for (uint32_t i = begin; i < end; i++) {
		const struct profile_op *op =
			&model->profile->ops[submissions_op(&model->submissions, i)];

		sum_ns += (double)(op->end_ns - op->start_ns);
	}
	found->nodes = (double)(end - begin) / (double)loop->iteration_count;
	found->gpu_ns = sum_ns / (double)loop->iteration_count +
			found->nodes * (double)run->costs->graph_node_gap_ns;
	found->launch_ns = (double)run->costs->graph_launch_ns;
	found->pause_ns = mean_pause_ns(model, loop);
}

/* What a graph of so many iterations takes once. */
static double once_ns(const struct unrolled_graph *found, const struct ceilings *ceilings,
		      size_t iteration_count)
{
	uint64_t nodes = (uint64_t)(found->nodes * (double)iteration_count);

	return costs_instantiate_ns(ceilings, nodes) +
	       ceilings_at(ceilings, CEILING_graph_first_launch, nodes);
}

/* Whether one more iteration in it saves the whole loop more than that. */
static bool is_worth_more(const struct unrolled_graph *found, const struct recorded_run *run,
			  const struct loop *loop)
{
	size_t count = found->iteration_count;
	double saved_ns = period_ns(found, run->costs, (double)count) -
			  period_ns(found, run->costs, (double)(count + 1));
	double once_more_ns =
		once_ns(found, run->ceilings, count + 1) - once_ns(found, run->ceilings, count);

	return once_more_ns > 0 && (double)loop->iteration_count * saved_ns > once_more_ns;
}

struct unrolled_graph unroll_graph_of(const struct recorded_run *run, const struct loop *loop)
{
	struct unrolled_graph found = {.iteration_count = 1, .worth_count = 1};
	size_t most;

	if (!run->costs)
		return found;
	measure(&found, run, loop);
	most = found.nodes > 0 ? (size_t)(NODES_MOST / found.nodes) : 1;
	if (most > loop->iteration_count / 2)
		most = loop->iteration_count / 2;
	while (found.iteration_count < most &&
	       period_ns(&found, run->costs, (double)found.iteration_count) >
		       LEFT_MOST * found.gpu_ns)
		found.iteration_count++;
	while (found.iteration_count < most && is_worth_more(&found, run, loop))
		found.iteration_count++;
	found.worth_count = found.iteration_count;
	found.single_ns = period_ns(&found, run->costs, 1);
	found.unrolled_ns = period_ns(&found, run->costs, (double)found.iteration_count);
	if (found.single_ns < LEAST_GAIN * found.unrolled_ns)
		found.iteration_count = 1;
	return found;
}

/* ---- what becomes of a loop ---- */

static bool makes_host_wait(const struct application *application, size_t call)
{
	const struct model *model = application->run->model;

	if (application->change.calls[call] == CALL_DROPPED)
		return false;
	return (model_call_class(model, call) == CALL_SYNC &&
		application->change.calls[call] == CALL_KEPT) ||
	       call_copies_to_host(model, call) || call_pause_ns(model, call) > LONG_HOST_NS;
}

/* Calls [first, end), which end where an iteration does that another one follows in the same graph. */
static const char *why_not(const struct application *application, size_t first, size_t end)
{
	const char *refusal = NULL;

	for (size_t i = first; !refusal && i < end; i++) {
		refusal = graph_bodies_refuse_call(application, i);
		if (!refusal && makes_host_wait(application, i))
			refusal = host_waits;
	}
	return refusal;
}

/* Iterations [from, next) of the loop are one launch. */
static void put_graph(struct application *application, const struct loop *loop, size_t from,
		      size_t next)
{
	struct change *change = &application->change;
	uint8_t launch = change_number(change, &graph_launch);
	uint8_t node = change_number(change, &graph_node);
	uint8_t iteration = change_number(change, &next_iteration);

	for (size_t i = loop->iterations[from]; i < loop->iterations[next]; i++)
		change->calls[i] = node;
	for (size_t i = from; i < next; i++)
		change->calls[loop->iterations[i]] = i == from ? launch : iteration;
}

static const char *unroll(struct application *application, const struct loop *loop,
			  size_t iteration_count)
{
	size_t count = loop->iteration_count, last;
	const char *refusal =
		why_not(application, loop->iterations[0] + 1, loop->iterations[count - 1] + 1);

	if (refusal)
		return refusal;
	for (size_t i = 0; i < count; i = last) {
		last = i + iteration_count < count ? i + iteration_count : count;
		put_graph(application, loop, i, last);
	}
	/* what follows the last launch is not the graph's */
	for (size_t i = calls_last_submitting(application->run->model, loop->first_call,
					      loop->first_call + loop->call_count);
	     i < loop->first_call + loop->call_count; i++)
		application->change.calls[i] = CALL_KEPT;
	return NULL;
}

static const char *change_loop(struct application *application, const struct loop *loop)
{
	const struct recorded_run *run = application->run;
	const struct unrolled_graph found = unroll_graph_of(run, loop);
	struct effect *effect = application->effect;
	bool has_graphs = graph_bodies_launch_graphs(run->model, loop);
	/* of calls a graph is made anyway, and may as well have several iterations */
	size_t count = has_graphs ? found.iteration_count : found.worth_count;
	uint64_t nodes = (uint64_t)(found.nodes * (double)count);
	const char *refusal = NULL;

	if (count < 2)
		return long_iterations;
	if (loop->exactness < LEAST_ALIKE * loop->regularity)
		return sizes_differ;
	if (!has_graphs && loop->period == 1)
		return single_calls; /* cuda_graph */
	if (!has_graphs)
		refusal = technique_cuda_graph.change_loop(application, loop);
	if (!refusal)
		refusal = unroll(application, loop, count);
	if (refusal)
		return refusal;
	effect->changed_count += loop->iteration_count;
	if (nodes > effect->most_nodes)
		effect->most_nodes = nodes;
	if (application->is_first_like)
		application->setup_ns += costs_instantiate_ns(run->ceilings, nodes);
	return NULL;
}

const struct technique technique_unroll_graph = {
	.id = "unroll_graph",
	.option = "unroll",
	.argument = ARGUMENT_RANGE,
	.help = "several iterations of a loop of short ones are one launch of a CUDA graph",
	.effect =
		"As many iterations of a loop become one launch of a graph as spare most of what launching one for "
		"each costs, also where graphs are launched already. Loops of which a graph for each iteration is as "
		"fast are left alone.",
	.changed = "iterations share the launch of a graph",
	.refusal = refused_irregular,
	.contains = {&technique_remove_syncs, &technique_preallocate},
	.moves_waits = true,
	.bound = BOUND_BUSY,
	.spread = SPREAD_LAUNCH,
	.is_blind_to_device_work = true,
	.change_loop = change_loop,
};
