/*
 * persistent_kernel.c - a loop of kernels is one kernel, with a grid-wide barrier where one ended.
 */
#include "techniques/techniques.h"

#include "analysis/counters/occupancy.h"
#include "techniques/shared/usual_changes.h"

static const char not_kernels[] = "more than kernels is between the first and the last of them";
static const char not_resident[] = "not all blocks of a kernel fit on the GPU at once";

static const struct call_change step = {.pause = PAUSE_GONE,
					.host = COST_NONE,
					.submission = SUBMITS_NODES,
					.gap = COST_BARRIER};

static const char *why_not_call(const struct model *model, size_t call)
{
	switch (model_call_class(model, call)) {
	case CALL_GRAPH_LAUNCH:
	case CALL_GRAPH_MANAGE:
		return refused_has_graphs;
	case CALL_MEMORY:
		return refused_allocates;
	case CALL_SYNC:
	case CALL_COPY:
		return not_kernels;
	default:
		return NULL;
	}
}

static const char *why_not_op(const struct recorded_run *run, const struct profile_op *op)
{
	const struct profile *profile = run->model->profile;
	struct occupancy occupancy;

	if (op->kind != OP_KERNEL)
		return not_kernels;
	if (run->libraries && run->libraries[profile->signatures[op->detail].kernel])
		return refused_library;
	return occupancy_of(&occupancy, &profile->devices[profile_op_device(profile, op)],
			    &profile->signatures[op->detail]) &&
			       occupancy.waves <= 1
		       ? NULL
		       : not_resident;
}

/* Of calls [first, end). */
static const char *why_not(const struct recorded_run *run, size_t first, size_t end,
			   uint64_t *kernel_count)
{
	const struct model *model = run->model;
	const struct submissions *submissions = &model->submissions;
	const char *refusal = NULL;

	for (size_t i = first; i < end && !refusal; i++) {
		refusal = why_not_call(model, i);
		for (uint32_t j = submissions_first(submissions, i);
		     j < submissions_first(submissions, i + 1) && !refusal; j++) {
			refusal = why_not_op(run,
					     &model->profile->ops[submissions_op(submissions, j)]);
			++*kernel_count;
		}
	}
	return refusal;
}

static const char *change_loop(struct application *application, const struct loop *loop)
{
	const struct model *model = application->run->model;
	struct change *change = &application->change;
	size_t first = loop->first_call, end = first + loop->call_count;
	uint64_t kernel_count = 0;
	const char *refusal;

	while (end > first && !submissions_count(&model->submissions, end - 1))
		end--;
	refusal = why_not(application->run, first, end, &kernel_count);
	if (refusal)
		return refusal;
	for (size_t i = first; i < end; i++)
		change->calls[i] = change_number(change, i == first ? &graph_launch : &step);
	application->effect->changed_count += kernel_count;
	return NULL;
}

const struct technique technique_persistent_kernel = {
	.id = "persistent_kernel",
	.option = "persistent",
	.argument = ARGUMENT_RANGE,
	.help = "a loop of kernels is one kernel with grid-wide barriers",
	.effect =
		"A loop of nothing but kernels, each of which fits on the GPU at once, becomes one kernel "
		"with a grid-wide barrier where one ended.",
	.changed = "kernels are steps of one",
	.refusal = refused_irregular,
	.moves_waits = true,
	.bound = BOUND_BUSY,
	.spread = SPREAD_LAUNCH,
	.change_loop = change_loop,
};
