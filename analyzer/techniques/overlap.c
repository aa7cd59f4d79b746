/*
 * overlap.c - copies beside kernels: iterations in turn in three streams, from pinned memory.
 */
#include "techniques/techniques.h"

#include <math.h>

#include "replay/calls.h"
#include "techniques/shared/dependences.h"
#include "techniques/shared/lengths.h"
#include "techniques/shared/streams.h"
#include "techniques/shared/usual_changes.h"
#include "techniques/shared/waits.h"

#define LEAST_COPY_NS 10000 /* shorter copies are launch latency, which streams do not hide */
#define OVERLAP_LANES 3	    /* one copies in, one computes, one copies out */

static const char carried[] = "each iteration goes on with what the one before it wrote";
static const char no_copies[] = "no loop has copies beside kernels to overlap";

/* Whether the first iteration has kernels, and copies that take long enough to be hidden. */
static bool has_copies_and_kernels(const struct model *model, const struct loop *loop)
{
	bool has_copy = false, has_kernel = false;

	for (size_t i = loop->iterations[0]; i < loop->iterations[1]; i++) {
		const struct profile_op *copy = call_op(model, i, OP_COPY);

		has_copy = has_copy || (copy && copy->end_ns - copy->start_ns >= LEAST_COPY_NS);
		has_kernel = has_kernel || call_op(model, i, OP_KERNEL);
	}
	return has_copy && has_kernel;
}

static const char *why_not(const struct recorded_run *run, const struct loop *loop)
{
	const struct model *model = run->model;

	if (!has_copies_and_kernels(model, loop))
		return no_copies;
	if (streams_are_many(model, loop, false, OVERLAP_LANES))
		return refused_streamed;
	for (size_t i = loop->first_call; i < loop->first_call + loop->call_count; i++)
		if (model_call_class(model, i) == CALL_GRAPH_LAUNCH)
			return refused_has_graphs;
		else if (model_call_class(model, i) == CALL_MEMORY)
			return refused_allocates;
	return dependences_carry_on(dependences_recorded(run->report), model, loop) ? carried
										    : NULL;
}

static void overlap_call(struct change *change, const struct model *model, size_t call,
			 uint32_t lane)
{
	const struct submissions *submissions = &model->submissions;

	if (model_call_class(model, call) == CALL_SYNC)
		change->calls[call] = CALL_DROPPED;
	else if (call_is_submitting(model, call))
		change->calls[call] = change_number(change, &asynchronous);
	for (uint32_t i = submissions_first(submissions, call);
	     i < submissions_first(submissions, call + 1); i++)
		change->lanes[submissions_op(submissions, i)] = (uint8_t)lane;
}

static uint32_t lanes_for(const struct application *application)
{
	return application->end == ASSUMED_LEAST ? LANES_LEAST : application->change.lane_count;
}

static const char *change_loop(struct application *application, const struct loop *loop)
{
	const struct model *model = application->run->model;
	struct change *change = &application->change;
	const char *refusal = why_not(application->run, loop);

	if (refusal)
		return refusal;
	for (size_t i = 0; i < loop->iteration_count; i++)
		for (size_t j = loop->iterations[i]; j < loop->iterations[i + 1]; j++)
			overlap_call(change, model, j,
				     (uint32_t)(i % OVERLAP_LANES) % lanes_for(application));
	waits_keep_others(change, model, loop);
	return NULL;
}

/* How many times as long a copy takes while one in the other direction runs, at most twice, as one after the
 * other would; 1 where nobody measured it. */
static double link_times(const struct ceilings *ceilings)
{
	double alone = ceilings_at(ceilings, CEILING_h2d_pinned, 0);
	double both = ceilings_at(ceilings, CEILING_pinned_both, 0);

	return both > 0 && both < alone ? fmin(alone / both, 2) : 1;
}

/* Copies in lanes share the link: there are some in both directions at once. */
static void share_link(struct application *application)
{
	const struct profile *profile = application->run->model->profile;
	const struct profile_device *where = &profile->devices[application->device];
	struct change *change = &application->change;
	double times = link_times(application->run->ceilings);

	for (size_t i = where->first_op; i < where->first_op + where->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];
		int64_t changed_ns = change_op_ns(change->op_ns, i);
		int64_t length_ns = changed_ns >= 0 ? changed_ns : op->end_ns - op->start_ns;

		if (op->kind == OP_COPY && change->lanes[i] != LANE_NONE && length_ns)
			change->op_ns[i] = (int64_t)(times * (double)length_ns);
	}
}

/* Copies of pageable memory run beside nothing: those of overlapped loops are of pinned memory. */
static int change_run(struct application *application)
{
	if (!application->effect->iteration_count)
		return 0;
	application->effect->changed_count = lengths_pin_copies(application, true);
	share_link(application);
	return 0;
}

const struct technique technique_overlap = {
	.id = "overlap",
	.option = "overlap",
	.argument = ARGUMENT_RANGE,
	.help = "copies beside kernels: iterations in turn in three streams, from pinned memory",
	.effect =
		"Iterations run in turn in three streams, with asynchronous copies of pinned memory. "
		"A loop that is in so many streams already is left alone.",
	.changed = "copies are of pinned memory",
	.refusal = no_copies,
	.has_ops = true,
	.has_lanes = true,
	.contains = {&technique_pinned_memory, &technique_remove_syncs},
	.moves_waits = true,
	.bound = BOUND_BUSY | BOUND_ENGINES | BOUND_COPIES,
	.spread = SPREAD_HOST,
	.change_loop = change_loop,
	.change_run = change_run,
};
