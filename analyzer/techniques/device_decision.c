/*
 * device_decision.c - the device decides what the host reads a flag or a count for.
 *
 * A whole loop becomes one graph: kernels become bodies of conditional nodes, and graphs that were launched by the host
 * launch each other.  The copies that were read, and the waits for them, are gone.
 */
#include "techniques/techniques.h"

#include "analysis/time/gaps.h"
#include "replay/calls.h"
#include "techniques/shared/graph_bodies.h"
#include "techniques/shared/readbacks.h"
#include "techniques/shared/usual_changes.h"

/* A copy to the host of at most so many bytes is a flag or a count that the host decides by. */
#define DECISION_BYTES GAP_DECISION_BYTES

static const char no_decision[] = "the host reads nothing small before it launches what follows";
static const char grid_varies[] =
	"the grid of a kernel follows from what the host reads; a node's is fixed";

/* Its first operation starts after a decision of the device. */
static const struct call_change conditional_body = {.pause = PAUSE_GONE,
						    .host = COST_NONE,
						    .submission = SUBMITS_NODES,
						    .gap = COST_CONDITIONAL};
/* It starts after a decision not to do anything else before. */
static const struct call_change after_skipped = {.pause = PAUSE_GONE,
						 .host = COST_NONE,
						 .submission = SUBMITS_NODES,
						 .gap = COST_SKIP};
/* It is an iteration of a WHILE node. */
static const struct call_change iteration_body = {.pause = PAUSE_GONE,
						  .host = COST_NONE,
						  .submission = SUBMITS_NODES,
						  .gap = COST_ITERATION};
static const struct call_change launched_graph = {.pause = PAUSE_GONE,
						  .host = COST_NONE,
						  .submission = SUBMITS_NODES,
						  .gap = COST_DEVICE_GRAPH};

/* A small copy to the host: its operation, or NULL. */
static const struct profile_op *small_read(const struct model *model, size_t call)
{
	const struct profile_op *op = call_op(model, call, OP_COPY);

	return op && model->profile->copies[op->detail].kind == COPY_TO_HOST &&
			       model->profile->copies[op->detail].bytes <= DECISION_BYTES
		       ? op
		       : NULL;
}

/* What the host reads first in calls [first, end); 0: nothing. */
static uint64_t read_bytes(const struct model *model, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++)
		if (small_read(model, i))
			return model->profile->copies[small_read(model, i)->detail].bytes;
	return 0;
}

/* Puts back what is read: as many bytes.  The device can do that itself. */
static bool is_reset(const struct model *model, size_t call, uint64_t bytes)
{
	const struct profile_op *op = call_op(model, call, OP_COPY);

	return op && model->profile->copies[op->detail].kind == COPY_TO_DEVICE &&
	       model->profile->copies[op->detail].bytes == bytes;
}

static bool is_blocking_copy(const struct application *application, size_t call,
			     uint64_t flag_bytes)
{
	const struct model *model = application->run->model;

	return application->change.calls[call] != CALL_DROPPED &&
	       model_call_class(model, call) == CALL_COPY && !small_read(model, call) &&
	       !is_reset(model, call, flag_bytes) && !call_is_capturable_copy(model, call);
}

/* Why the device could not go through calls [first, end) alone, or NULL. */
static const char *why_not_calls(const struct application *application, size_t first, size_t end)
{
	uint64_t flag_bytes = read_bytes(application->run->model, first, end);
	const char *refusal = NULL;

	for (size_t i = first; !refusal && i < end; i++) {
		refusal = graph_bodies_refuse_call(application, i);
		if (!refusal && is_blocking_copy(application, i, flag_bytes))
			refusal = refused_blocking_copy;
	}
	return refusal;
}

/* Going through a loop call by call. */
struct deciding {
	struct change *change;
	const struct model *model;
	const struct loop *loop;
	uint8_t launch, node, body; /* as change->calls[] */
	uint8_t undecided; /* likewise: what an iteration begins with after a read by which nothing was launched */
	bool is_read;	   /* the host has read something small and not launched since */
	bool is_waited;	   /* and has waited for it */
	bool is_outside;   /* of any graph: the next launch is that of one */
	bool is_in_branch; /* what was launched last is not what iterations begin with, but decided */
	size_t iteration;  /* that the call belongs to */
	size_t start_call; /* the first one of it that submits anything, as far as was looked */
	uint64_t decision_count;
};

/* Whether a call is the first of its iteration that submits anything. */
static bool is_iteration_start(struct deciding *deciding, size_t call)
{
	const struct loop *loop = deciding->loop;
	size_t *at = &deciding->iteration, *start = &deciding->start_call;

	while (*at + 1 < loop->iteration_count && loop->iterations[*at + 1] <= call)
		++*at;
	if (*start < loop->iterations[*at])
		*start = loop->iterations[*at];
	while (*start < call && !submissions_count(&deciding->model->submissions, *start))
		++*start;
	return *start == call;
}

/* The body of an IF node is entered, and left before the next iteration begins, or skipped; that of a WHILE node, with
 * which each iteration begins, is only entered.  A graph that was launched by the host stays one, and is launched by the
 * one before it. */
static uint8_t decide_launch(struct deciding *deciding, bool is_start, bool is_graph)
{
	bool is_transition = deciding->is_read || is_graph || (is_start && deciding->is_in_branch);
	bool is_undecided = is_start && deciding->is_read && !is_graph;

	deciding->decision_count += deciding->is_read;
	deciding->is_in_branch =
		!deciding->is_outside && !is_start && (deciding->is_read || deciding->is_in_branch);
	deciding->is_read = false;
	if (!deciding->is_outside)
		return is_undecided    ? deciding->undecided
		       : is_transition ? deciding->body
				       : deciding->node;
	deciding->is_outside = false;
	return deciding->launch;
}

/* Whether the host waits for a small read that follows at once, and would wait itself. */
static bool is_before_read(const struct deciding *deciding, size_t call)
{
	const struct model *model = deciding->model;
	size_t end = deciding->loop->first_call + deciding->loop->call_count;
	size_t i = call + 1;

	while (i < end && !submissions_count(&model->submissions, i))
		i++;
	return i < end && small_read(model, i) && model->call_traits[i].behavior == CALL_WAITS_OWN;
}

/* A wait for nothing that was read is not the loop's: it stays, and a graph ends before it. */
static uint8_t decide_call(struct deciding *deciding, size_t call)
{
	const struct model *model = deciding->model;

	if (model_call_class(model, call) == CALL_SYNC) {
		if (is_before_read(deciding, call))
			return deciding->is_outside ? CALL_DROPPED : deciding->node;
		if (!deciding->is_read || deciding->is_waited) {
			deciding->is_outside = true;
			return CALL_KEPT;
		}
		deciding->is_waited = true;
	} else if (small_read(model, call)) {
		deciding->is_read = true;
		deciding->is_waited = model->call_traits[call].behavior == CALL_WAITS_OWN;
	} else if (submissions_count(&model->submissions, call)) {
		return decide_launch(deciding, is_iteration_start(deciding, call),
				     model_call_class(model, call) == CALL_GRAPH_LAUNCH);
	}
	return deciding->is_outside ? CALL_KEPT : deciding->node;
}

/* Why calls [first, end) of a loop cannot be decided by the device, or NULL. */
static const char *why_not(struct application *application, const struct loop *loop, size_t end)
{
	const struct model *model = application->run->model;
	struct readbacks readbacks = {.model = model,
				      .end = end,
				      .kernels = application->readback_kernels};
	uint64_t found_count = 0;
	const char *refusal;

	for (size_t i = loop->first_call; i < end; i++)
		found_count += small_read(model, i) != NULL;
	if (2 * found_count < loop->iteration_count)
		return no_decision;
	refusal = why_not_calls(application, loop->first_call, end);
	if (refusal)
		return refusal;
	readbacks_collect(&readbacks, loop->first_call);
	return readbacks_has_varying_grid(&readbacks) ? grid_varies : NULL;
}

/* Whether an iteration launches anything by what it read: its decisions are IF nodes.  Else the read is whether it goes
 * on. */
static bool has_branches(const struct deciding *from, size_t end)
{
	struct deciding looking = *from;
	bool is_read = false;

	for (size_t i = looking.loop->first_call; i < end; i++) {
		if (small_read(looking.model, i)) {
			is_read = true;
		} else if (submissions_count(&looking.model->submissions, i)) {
			bool is_launch = model_call_class(looking.model, i) == CALL_LAUNCH;
			bool is_start = is_iteration_start(&looking, i);

			if (is_read && is_launch && !is_start)
				return true;
			is_read = is_read && !is_launch && !is_start;
		}
	}
	return false;
}

static void decide(struct deciding *deciding, size_t end)
{
	struct change *change = deciding->change;

	for (size_t i = deciding->loop->first_call; i < end; i++) {
		const struct profile_op *read = small_read(deciding->model, i);

		if (change->calls[i] == CALL_DROPPED)
			continue;
		change->calls[i] = decide_call(deciding, i);
		if (read && change->calls[i] != CALL_KEPT)
			change->op_ns[read - deciding->model->profile->ops] = OP_GONE;
	}
}

static const char *change_loop(struct application *application, const struct loop *loop)
{
	const struct model *model = application->run->model;
	const struct ceilings *ceilings = application->run->ceilings;
	struct change *change = &application->change;
	size_t first = loop->first_call;
	size_t end = calls_last_submitting(model, first, first + loop->call_count);
	/* which then launch each other */
	bool has_graphs = graph_bodies_launch_graphs(model, loop);
	struct deciding deciding = {.change = change,
				    .model = model,
				    .loop = loop,
				    .launch = change_number(change, &graph_launch),
				    .node = change_number(change, &graph_node),
				    .body = change_number(change, has_graphs ? &launched_graph
									     : &conditional_body),
				    .is_outside = true};
	const char *refusal;

	if (has_graphs ? !costs_has_device_graph(ceilings) : !costs_has_conditional(ceilings))
		return refused_not_measured;
	refusal = why_not(application, loop, end);
	if (refusal)
		return refusal;
	deciding.undecided =
		has_graphs ? deciding.body
			   : change_number(change, has_branches(&deciding, end) ? &after_skipped
										: &iteration_body);
	decide(&deciding, end);
	application->effect->changed_count += deciding.decision_count;
	if (application->is_first_like)
		application->setup_ns += costs_instantiate_ns(ceilings, loop->period);
	return NULL;
}

const struct technique technique_device_decision = {
	.id = "device_decision",
	.option = "decide",
	.argument = ARGUMENT_RANGE,
	.help = "the device decides what the host reads a few bytes for",
	.effect =
		"The host reads no flags before it launches, and sets none back: a loop is one graph, with conditional nodes, or "
		"with graphs that launch each other where it launched graphs.",
	.changed = "decisions are the device's",
	.refusal = no_decision,
	.has_ops = true,
	.moves_waits = true,
	.bound = BOUND_BUSY | BOUND_READS,
	.spread = SPREAD_LAUNCH,
	.change_loop = change_loop,
};
