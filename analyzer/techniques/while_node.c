/*
 * while_node.c - a loop that goes on for as long as the host reads a flag is the body of a WHILE node.
 *
 * Iterations are alike, and each ends with what the host reads, be it a copy of its own or a node of the graph that it
 * launches.  The whole loop is one launch: a conditional node goes before each iteration, and what was read and the
 * waits for it are gone.  Where the host launches kernels that is what device_decision makes of it.
 */
#include "techniques/techniques.h"

#include "analysis/time/gaps.h"
#include "replay/calls.h"
#include "techniques/shared/graph_bodies.h"
#include "techniques/shared/usual_changes.h"

static const char no_flag[] =
	"no loop of equal iterations has the host read a few bytes after each of them";

/* Fewer iterations that are as the one before them have a branch in them, and no common body. */
#define LEAST_ALIKE 0.75

static const struct call_change loop_body = {.pause = PAUSE_GONE,
					     .host = COST_NONE,
					     .submission = SUBMITS_NODES,
					     .gap = COST_CONDITIONAL};

/* ---- what a loop is ---- */

static bool is_flag(const struct profile *profile, const struct profile_op *op)
{
	return op->kind == OP_COPY && profile->copies[op->detail].kind == COPY_TO_HOST &&
	       profile->copies[op->detail].bytes <= GAP_DECISION_BYTES;
}

/* Copies differ in where they are kept, not in what they are. */
static bool is_alike(const struct profile *profile, const struct profile_op *left,
		     const struct profile_op *right)
{
	if (left->kind != right->kind || left->graph != right->graph)
		return false;
	if (left->kind == OP_KERNEL)
		return left->detail == right->detail;
	return left->kind != OP_COPY ||
	       (profile->copies[left->detail].kind == profile->copies[right->detail].kind &&
		profile->copies[left->detail].bytes == profile->copies[right->detail].bytes);
}

/* What an iteration submitted, in ops[] of submissions. */
struct submitted {
	uint32_t first, end;
};

static struct submitted submitted_in(const struct model *model, const struct loop *loop,
				     size_t iteration)
{
	const uint32_t *first = model->submissions.first;

	return (struct submitted){first[loop->iterations[iteration]],
				  first[loop->iterations[iteration + 1]]};
}

static bool are_alike(const struct model *model, struct submitted left, struct submitted right)
{
	const struct profile *profile = model->profile;
	const uint32_t *ops = model->submissions.ops;

	if (left.end - left.first != right.end - right.first)
		return false;
	for (uint32_t i = 0; i < left.end - left.first; i++)
		if (!is_alike(profile, &profile->ops[ops[left.first + i]],
			      &profile->ops[ops[right.first + i]]))
			return false;
	return true;
}

/* Whether the last that it submitted, and nothing else, is read to decide by. */
static bool ends_with_flag(const struct model *model, struct submitted submitted)
{
	const struct profile *profile = model->profile;
	uint32_t flag_count = 0;

	for (uint32_t i = submitted.first; i < submitted.end; i++)
		flag_count += is_flag(profile, &profile->ops[model->submissions.ops[i]]);
	return flag_count == 1 && submitted.end - submitted.first > 1 &&
	       is_flag(profile, &profile->ops[model->submissions.ops[submitted.end - 1]]);
}

static bool is_while(const struct model *model, const struct loop *loop)
{
	size_t alike_count = 0;

	for (size_t i = 1; i < loop->iteration_count; i++) {
		struct submitted submitted = submitted_in(model, loop, i);

		alike_count += ends_with_flag(model, submitted) &&
			       are_alike(model, submitted_in(model, loop, i - 1), submitted);
	}
	return (double)alike_count >= LEAST_ALIKE * (double)(loop->iteration_count - 1);
}

/* ---- what becomes of it ---- */

static void drop_flags(struct change *change, const struct model *model, size_t call)
{
	const struct submissions *submissions = &model->submissions;

	for (uint32_t i = submissions->first[call]; i < submissions->first[call + 1]; i++)
		if (is_flag(model->profile, &model->profile->ops[submissions->ops[i]]))
			change->op_ns[submissions->ops[i]] = OP_GONE;
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

	if (!is_while(model, loop))
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
	.bound = BOUND_BUSY | BOUND_READS,
	.has_ops = true,
	.change_loop = change_loop,
};
