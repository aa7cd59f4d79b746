/*
 * dependent_launch.c - a kernel is set up while the one before it in its stream ends (programmatic dependent launch).
 *
 * What it can do before it needs results of that one comes on top.
 */
#include "techniques/techniques.h"

#include "replay/calls.h"

static const char no_predecessor[] = "no kernel follows another one in its stream";

static const struct call_change dependent = {.gap = COST_DEPENDENT_GAP};

static const char *change_loop(struct application *application, const struct loop *loop)
{
	const struct model *model = application->run->model;
	const struct profile_op *ops = model->profile->ops;
	struct change *change = &application->change;
	size_t end = loop->first_call + loop->call_count, kernel_count = 0;

	for (size_t i = loop->first_call; i < end; i++) {
		const struct profile_op *op = call_only_kernel(model, i);
		uint32_t predecessor = op ? model->predecessor[op - ops] : PROFILE_NONE;

		if (predecessor == PROFILE_NONE || ops[predecessor].kind != OP_KERNEL)
			continue;
		change->calls[i] = change_number(change, &dependent);
		kernel_count++;
	}
	application->effect->changed_count += kernel_count;
	return kernel_count ? NULL : no_predecessor;
}

const struct technique technique_dependent_launch = {
	.id = "dependent_launch",
	.option = "dependent",
	.argument = ARGUMENT_RANGE,
	.help = "a kernel is set up while the one before it ends (programmatic dependent launch)",
	.effect =
		"Kernels that follow another one in their stream are set up while it ends. What they can "
		"do before they need its results is an additional gain, which is not predicted.",
	.changed = "kernels are set up before they start",
	.refusal = no_predecessor,
	.change_loop = change_loop,
};
