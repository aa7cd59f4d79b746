/*
 * dependent_launch.c - a kernel is set up while the one before it in its stream ends (programmatic dependent launch).
 *
 * What it can do before it needs results of that one comes on top.
 */
#include "techniques/techniques.h"

#include "replay/calls.h"

static const char no_predecessor[] = "no kernel follows another one in its stream";

static const char is_dependent[] = "kernels start before the one before them has ended already";

static const char is_asked[] =
	"kernels are launched so already (programmatic stream serialization)";

static const struct call_change dependent = {.gap = COST_DEPENDENT_GAP};

/* The one before it by start that is looked for among so many operations: work of other streams may lie between. */
#define OPS_LOOKED_AT 64

static bool starts_early(const struct profile *profile, const struct profile_op *op)
{
	const struct profile_op *first = &profile->ops[profile->devices[op->device].first_op];
	const struct profile_op *before = op;

	for (int i = 0; i < OPS_LOOKED_AT && before > first; i++) {
		before--;
		if (before->stream == op->stream)
			return before->kind == OP_KERNEL && before->end_ns > op->start_ns;
	}
	return false;
}

static bool is_asked_for(const struct profile *profile, const struct profile_op *op)
{
	const struct profile_launch *launch = profile_launch_of(profile, op->call);

	return launch && launch->is_dependent;
}

/* The kernel has to wait by itself for what the one before it writes. */
static bool is_library(const struct recorded_run *run, const struct profile_op *op)
{
	return run->is_library &&
	       run->is_library[run->model->profile->signatures[op->detail].kernel];
}

static const char *change_loop(struct application *application, const struct loop *loop)
{
	const struct model *model = application->run->model;
	const struct profile_op *ops = model->profile->ops;
	struct change *change = &application->change;
	size_t end = loop->first_call + loop->call_count, kernel_count = 0, early_count = 0,
	       asked_count = 0, library_count = 0;

	for (size_t i = loop->first_call; i < end; i++) {
		const struct profile_op *op = call_only_kernel(model, i);
		uint32_t predecessor = op ? model->predecessor[op - ops] : PROFILE_NONE;

		if (predecessor == PROFILE_NONE || ops[predecessor].kind != OP_KERNEL)
			continue;
		if (is_library(application->run, op)) {
			library_count++;
			continue;
		}
		early_count += starts_early(model->profile, op);
		kernel_count++;
		if (is_asked_for(model->profile, op))
			asked_count++;
		else
			change->calls[i] = change_number(change, &dependent);
	}
	if (library_count && !kernel_count)
		return refused_library;
	if (kernel_count && asked_count == kernel_count)
		return is_asked;
	if (2 * early_count > kernel_count)
		return is_dependent;
	application->effect->changed_count += kernel_count - asked_count;
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
	.bound = BOUND_BUSY | BOUND_OPEN,
	.change_loop = change_loop,
};
