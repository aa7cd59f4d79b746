/*
 * while_node.c - a loop that goes on for as long as the host reads a flag is the body of a WHILE node.
 *
 * Iterations are alike, and each ends with what the host reads, be it a copy of its own or a node of the graph that it
 * launches.  The whole loop is one launch: a conditional node goes before each iteration, and what was read and the
 * waits for it are gone.  Where the host launches kernels that is what device_decision makes of it.
 */
#include "techniques/techniques.h"

#include "replay/calls.h"
#include "techniques/shared/flag_loops.h"
#include "techniques/shared/graph_bodies.h"
#include "techniques/shared/usual_changes.h"

static const char no_flag[] =
	"no loop of equal iterations has the host read a few bytes after each of them";

static const struct call_change loop_body = {.pause = PAUSE_GONE,
					     .host = COST_NONE,
					     .submission = SUBMITS_NODES,
					     .gap = COST_ITERATION};

static void drop_flags(struct change *change, const struct model *model, size_t call)
{
	const struct submissions *submissions = &model->submissions;

	for (uint32_t i = submissions_first(submissions, call);
	     i < submissions_first(submissions, call + 1); i++)
		if (flag_loops_is_flag(model->profile,
				       &model->profile->ops[submissions_op(submissions, i)]))
			change->op_ns[submissions_op(submissions, i)] = OP_GONE;
}

/* What the host does between the iterations, it does no more; the wait after the last of them stays. */
static void put_body(struct application *application, size_t first, size_t end)
{
	const struct model *model = application->run->model;
	struct change *change = &application->change;
	bool is_first = true;

	for (size_t i = first; i < end; i++) {
		bool is_graph = model_call_class(model, i) == CALL_GRAPH_LAUNCH;

		drop_flags(change, model, i);
		if (is_graph && is_first)
			change->calls[i] = change_number(change, &graph_launch);
		else
			change->calls[i] =
				change_number(change, is_graph ? &loop_body : &graph_node);
		is_first = is_first && !is_graph;
	}
}

static const char *change_loop(struct application *application, const struct loop *loop)
{
	const struct model *model = application->run->model;
	const struct ceilings *ceilings = application->run->ceilings;
	size_t first = loop->first_call;
	size_t end = calls_last_submitting(model, first, first + loop->call_count);
	const char *refusal;

	if (!flag_loops_is_one(model, loop))
		return no_flag;
	if (!graph_bodies_launch_graphs(model, loop))
		return technique_device_decision.change_loop(application, loop);
	if (!costs_has_conditional(ceilings))
		return refused_not_measured;
	refusal = graph_bodies_refuse_calls(application, first, end);
	if (refusal)
		return refusal;
	put_body(application, first, end);
	application->effect->changed_count += loop->iteration_count - 1;
	if (application->is_first_like)
		application->setup_ns += costs_instantiate_ns(ceilings, loop->period);
	return NULL;
}

const struct technique technique_while_node = {
	.id = "while_node",
	.option = "while",
	.argument = ARGUMENT_RANGE,
	.help = "a loop that the host ends by a flag that it reads is the body of a WHILE node",
	.effect =
		"A loop of equal iterations, after each of which the host reads a few bytes to decide whether it "
		"goes on, is one launch of a graph with a WHILE node; also where it launches graphs, and where the "
		"copy that is read is a node of them. The waits are gone.",
	.changed = "iterations are decided on by the device",
	.refusal = no_flag,
	.moves_waits = true,
	.bound = BOUND_BUSY | BOUND_READS,
	.spread = SPREAD_LAUNCH,
	.has_ops = true,
	.change_loop = change_loop,
};
