/*
 * concurrent_kernels.c - small kernels of an iteration run side by side.
 *
 * They share the GPU as far as it has SMs for their blocks; copies stand between them.  Kernels of a graph as well, its
 * launches one after the other.
 */
#include "techniques/techniques.h"

#include "replay/calls.h"
#include "techniques/shared/streams.h"

static const char full_gpu[] = "every kernel has blocks for more than half of the SMs";

/* Kernels in one lane after the other; what is no kernel, and the first one of an iteration or of a graph, or after
 * a graph, waits for all. */
static void spread_call(struct change *change, const struct model *model, size_t call,
			uint32_t *lane, bool *is_joined)
{
	const struct submissions *submissions = &model->submissions;
	bool is_graph = model_call_class(model, call) == CALL_GRAPH_LAUNCH;

	*is_joined = *is_joined || is_graph;
	for (uint32_t i = submissions->first[call]; i < submissions->first[call + 1]; i++) {
		uint32_t op = submissions->ops[i];
		bool is_kernel = model->profile->ops[op].kind == OP_KERNEL;

		change->lanes[op] = (*lane)++ % change->lane_count;
		if (*is_joined || !is_kernel)
			change->lanes[op] |= LANE_JOINED;
		change->fill[op] = (uint8_t)call_fill(model->profile, &model->profile->ops[op]);
		*is_joined = !is_kernel;
	}
	*is_joined = *is_joined || is_graph;
}

/* A graph whose nodes are not in the recording, or whose conditional nodes launch between them, has an order of its
 * own. */
static const char *why_not_call(const struct model *model, size_t call)
{
	const struct profile_op *ops = model->profile->ops;
	const uint32_t *nodes = &model->submissions.ops[model->submissions.first[call]];
	size_t count = submissions_count(&model->submissions, call);

	if (model_call_class(model, call) != CALL_GRAPH_LAUNCH)
		return NULL;
	if (!count || ops[nodes[0]].kind == OP_GRAPH)
		return refused_has_graphs;
	for (uint32_t i = nodes[0]; i < nodes[count - 1]; i++)
		if (ops[i].call == PROFILE_NONE)
			return refused_device_work;
	return NULL;
}

static const char *why_not(const struct model *model, const struct loop *loop,
			   uint64_t *kernel_count)
{
	const struct submissions *submissions = &model->submissions;
	size_t end = loop->first_call + loop->call_count, small_count = 0;

	for (size_t i = loop->first_call; i < end; i++) {
		const char *refusal = why_not_call(model, i);

		if (refusal)
			return refusal;
		for (uint32_t j = submissions->first[i]; j < submissions->first[i + 1]; j++) {
			const struct profile_op *op = &model->profile->ops[submissions->ops[j]];

			small_count += call_fill(model->profile, op) <= 50;
			*kernel_count += op->kind == OP_KERNEL;
		}
	}
	if (!small_count)
		return full_gpu;
	return streams_are_many(model, loop, true, 2) ? refused_streamed : NULL;
}

/* In a loop of one kernel nothing says what an iteration is: waits of the host part them. */
static void spread_loop(struct change *change, const struct model *model, const struct loop *loop)
{
	uint32_t lane = 0;
	bool is_joined = true;

	for (size_t i = 0; i < loop->iteration_count; i++) {
		is_joined = is_joined || loop->period > 1;
		for (size_t j = loop->iterations[i]; j < loop->iterations[i + 1]; j++) {
			spread_call(change, model, j, &lane, &is_joined);
			is_joined = is_joined || model_call_class(model, j) == CALL_SYNC;
		}
	}
}

static const char *change_loop(struct application *application, const struct loop *loop)
{
	uint64_t kernel_count = 0;
	const char *refusal = why_not(application->run->model, loop, &kernel_count);

	if (refusal)
		return refusal;
	spread_loop(&application->change, application->run->model, loop);
	application->effect->changed_count += kernel_count;
	return NULL;
}

const struct technique technique_concurrent_kernels = {
	.id = "concurrent_kernels",
	.option = "streams",
	.argument = ARGUMENT_RANGE,
	.help = "small kernels of an iteration run side by side; assumes that they are independent",
	.effect =
		"Kernels of an iteration that leave SMs empty run side by side as far as they fit, also "
		"those of one graph. Kernels that are in several streams already are left alone.",
	.changed = "kernels share the GPU",
	.assumes =
		"kernels of an iteration are independent of each other; at the low end only two run "
		"at a time",
	.refusal = full_gpu,
	.always_assumes = true,
	.is_up_to = true,
	.has_lanes = true,
	.bound = BOUND_BUSY | BOUND_ENGINES,
	.change_loop = change_loop,
};
