/*
 * concurrent_kernels.c - small kernels of an iteration run side by side.
 *
 * They share the GPU as far as it has SMs for their blocks; copies stand between them.  Kernels of a graph as well, its
 * launches one after the other.  Where it was recorded what kernels are given, one that depends on another follows in its
 * lane, and what is left is no assumption.
 *
 * A lane is a stream, which waits for another one by an event: that takes the host its time, but in a graph.
 */
#include "techniques/techniques.h"

#include "replay/calls.h"
#include "techniques/shared/dependences.h"
#include "techniques/shared/streams.h"

static const char full_gpu[] = "every kernel has blocks for more than half of the SMs";
static const char dependent[] =
	"each kernel depends on the one before it: it was given memory that one of them writes";

/* Kernels of a loop as they are put side by side. */
struct spread {
	struct change *change; /* NULL: only to look */
	const struct model *model;
	struct kernels_beside beside;
	bool is_joined;		 /* what comes next waits for all */
	bool counts_waits;	 /* of lanes for each other, that the host asks for */
	bool in_use[LANES_MOST]; /* since what was joined last */
	uint64_t kernel_count, beside_count, untold_count, dependent_count;
};

/* Streams that the next operation of a lane waits for: where it is joined all that are in use, but for the one of them in
 * which it goes on; else, as the first one of its lane since, the one of what was joined. */
static uint8_t awaited_streams(struct spread *spread, uint32_t lane, bool is_joined)
{
	uint8_t count = 0;

	if (!is_joined) {
		count = !spread->in_use[lane];
		spread->in_use[lane] = true;
		return count;
	}
	for (uint32_t i = 0; i < LANES_MOST; i++) {
		count += spread->in_use[i];
		spread->in_use[i] = i == lane;
	}
	return count ? count - 1 : 0;
}

/* What becomes of its call, but of one that launches a graph. */
static void wait_for_lanes(struct spread *spread, uint32_t op, uint32_t lane, bool is_joined)
{
	struct change *change = spread->change;
	uint32_t call = spread->model->profile->ops[op].call;
	struct call_change waiting = {.awaited_streams = awaited_streams(spread, lane, is_joined)};

	if (spread->counts_waits && call != PROFILE_NONE && change->calls[call] == CALL_KEPT &&
	    model_call_class(spread->model, call) != CALL_GRAPH_LAUNCH)
		change->calls[call] = change_number(change, &waiting);
}

static void put_op(struct spread *spread, uint32_t op, uint32_t lane, bool is_joined)
{
	const struct profile *profile = spread->model->profile;
	struct change *change = spread->change;

	if (!change)
		return;
	change->lanes[op] = (uint8_t)(lane | (is_joined ? LANE_JOINED : 0));
	change->fill[op] = (uint8_t)call_fill(profile, &profile->ops[op]);
	wait_for_lanes(spread, op, lane, is_joined);
}

static void put_kernel(struct spread *spread, uint32_t op)
{
	struct lane_beside where = kernels_beside_add(&spread->beside, op, spread->is_joined);

	spread->kernel_count++;
	spread->dependent_count += where.found == DEPENDENCE_THERE;
	spread->untold_count += where.found == DEPENDENCE_UNTOLD;
	spread->beside_count += !where.is_joined && where.found != DEPENDENCE_THERE;
	put_op(spread, op, where.lane, where.is_joined);
}

/* What is no kernel, and the first one of an iteration or of a graph, or after a graph, waits for all. */
static void spread_call(struct spread *spread, size_t call)
{
	const struct submissions *submissions = &spread->model->submissions;
	bool is_graph = model_call_class(spread->model, call) == CALL_GRAPH_LAUNCH;

	spread->is_joined = spread->is_joined || is_graph;
	for (uint32_t i = submissions_first(submissions, call);
	     i < submissions_first(submissions, call + 1); i++) {
		uint32_t op = submissions_op(submissions, i);
		bool is_kernel = spread->model->profile->ops[op].kind == OP_KERNEL;

		if (is_kernel)
			put_kernel(spread, op);
		else
			put_op(spread, op, kernels_beside_next_lane(&spread->beside), true);
		spread->is_joined = !is_kernel;
	}
	spread->is_joined = spread->is_joined || is_graph;
}

/* A graph whose nodes are not in the recording, or whose conditional nodes launch between them, has an order of its
 * own. */
static const char *why_not_call(const struct model *model, size_t call)
{
	const struct profile_op *ops = model->profile->ops;
	const struct submissions *submissions = &model->submissions;
	uint32_t first = submissions_first(submissions, call),
		 end = submissions_first(submissions, call + 1);

	if (model_call_class(model, call) != CALL_GRAPH_LAUNCH)
		return NULL;
	if (first == end || ops[submissions_op(submissions, first)].kind == OP_GRAPH)
		return refused_has_graphs;
	for (uint32_t i = submissions_op(submissions, first);
	     i < submissions_op(submissions, end - 1); i++)
		if (ops[i].call == PROFILE_NONE)
			return refused_device_work;
	return NULL;
}

static const char *why_not(const struct model *model, const struct loop *loop)
{
	const struct submissions *submissions = &model->submissions;
	size_t end = loop->first_call + loop->call_count, small_count = 0;

	for (size_t i = loop->first_call; i < end; i++) {
		const char *refusal = why_not_call(model, i);

		if (refusal)
			return refusal;
		for (uint32_t j = submissions_first(submissions, i);
		     j < submissions_first(submissions, i + 1); j++) {
			const struct profile_op *op =
				&model->profile->ops[submissions_op(submissions, j)];

			small_count += call_fill(model->profile, op) <= 50;
		}
	}
	if (!small_count)
		return full_gpu;
	return streams_are_many(model, loop, true, 2) ? refused_streamed : NULL;
}

/* In a loop of one kernel nothing says what an iteration is: waits of the host part them. */
static void spread_loop(struct spread *spread, const struct loop *loop)
{
	spread->is_joined = true;
	for (size_t i = 0; i < loop->iteration_count; i++) {
		spread->is_joined = spread->is_joined || loop->period > 1;
		for (size_t j = loop->iterations[i]; j < loop->iterations[i + 1]; j++) {
			spread_call(spread, j);
			spread->is_joined = spread->is_joined ||
					    model_call_class(spread->model, j) == CALL_SYNC;
		}
	}
}

static struct spread look_at(const struct application *application, const struct loop *loop)
{
	struct spread spread = {.model = application->run->model,
				.beside = kernels_beside_of(application->run->report,
							    application->change.lane_count)};

	spread_loop(&spread, loop);
	return spread;
}

/* What is known needs no low end of its own. */
static uint32_t lanes_for(const struct application *application, bool is_proven)
{
	if (is_proven)
		return application->change.lane_count;
	return application->end == ASSUMED_LEAST ? LANES_LEAST : application->change.lane_count;
}

static void spread_over(struct application *application, const struct loop *loop, bool is_proven)
{
	const struct report *report = application->run->report;
	struct spread spread = {.change = &application->change,
				.model = application->run->model,
				.counts_waits = ceilings_at(application->run->ceilings,
							    CEILING_stream_wait, 0) > 0,
				.beside = kernels_beside_of(report,
							    lanes_for(application, is_proven))};

	application->change.starts_early |= spread.beside.accesses != NULL;
	spread_loop(&spread, loop);
}

static const char *change_loop(struct application *application, const struct loop *loop)
{
	struct effect *effect = application->effect;
	const char *refusal = why_not(application->run->model, loop);
	struct spread found;

	if (refusal)
		return refusal;
	found = look_at(application, loop);
	if (found.dependent_count && !found.beside_count)
		return dependent;
	spread_over(application, loop, !found.untold_count);
	effect->is_proven = !found.untold_count && (effect->is_proven || !effect->changed_count);
	effect->is_assuming = !effect->is_proven;
	effect->changed_count += found.kernel_count;
	return NULL;
}

const struct technique technique_concurrent_kernels = {
	.id = "concurrent_kernels",
	.option = "streams",
	.argument = ARGUMENT_RANGE,
	.help = "small kernels of an iteration run side by side, as far as they are independent",
	.effect =
		"Kernels of an iteration that leave SMs empty run side by side as far as they fit, also "
		"those of one graph. With a recording by --args each waits for those that it depends on; "
		"without, they are assumed to be independent. Kernels that are in several streams already are left alone.",
	.changed = "kernels share the GPU",
	.assumes =
		"kernels of an iteration are independent of each other; at the low end only two run "
		"at a time",
	.refusal = full_gpu,
	.always_assumes = true,
	.is_up_to = true,
	.leaves_to = &technique_cuda_graph, /* whose branches they are then */
	.has_lanes = true,
	.moves_waits = true,
	.bound = BOUND_BUSY | BOUND_ENGINES,
	.spread = SPREAD_KERNELS,
	.change_loop = change_loop,
};
