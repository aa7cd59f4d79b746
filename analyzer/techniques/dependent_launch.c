/*
 * dependent_launch.c - a kernel is set up while the one before it in its stream ends (programmatic dependent launch).
 *
 * What it does before it waits for that one runs beside it, where machine code tells: the part of its loads that stand above
 * the wait, if the one before lets it begin early and as far as there is room for both.  Else that comes on top.
 */
#include "techniques/techniques.h"

#include <math.h>

#include "analysis/counters/occupancy.h"
#include "replay/calls.h"

static const char no_predecessor[] = "no kernel follows another one in its stream";

static const char no_room[] =
	"the kernels before them fill the GPU until they end: there is no room for others";
static const char is_dependent[] = "kernels start before the one before them has ended already";

static const char is_asked[] =
	"kernels are launched so already (programmatic stream serialization)";

static const struct call_change dependent = {.gap = COST_DEPENDENT_GAP};

/* The one before it by start that is looked for among so many operations: work of other streams may lie between. */
#define OPS_LOOKED_AT 64

static bool starts_early(const struct profile *profile, const struct profile_op *op)
{
	const struct profile_op *first =
		&profile->ops[profile->devices[profile_op_device(profile, op)].first_op];
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
	return run->libraries && run->libraries[run->model->profile->signatures[op->detail].kernel];
}

/* Room for blocks of the next one while it runs; where the device's limits are not known it is taken to be there. */
static bool leaves_room(const struct profile *profile, const struct profile_op *op)
{
	struct occupancy occupancy;

	return !occupancy_of(&occupancy, &profile->devices[profile_op_device(profile, op)],
			     &profile->signatures[op->detail]) ||
	       occupancy.waves < 1;
}

/* NULL: older recordings do not tell. */
static const struct profile_machine_code *code_of(const struct profile *profile,
						  const struct profile_op *op)
{
	const struct profile_device *device = &profile->devices[profile_op_device(profile, op)];

	return profile_machine_code(profile, profile->signatures[op->detail].kernel,
				    10 * device->compute_major + device->compute_minor);
}

/* The part of a kernel that runs beside the one before. */
static double early_share(const struct profile *profile, const struct profile_op *before,
			  const struct profile_op *op)
{
	const struct profile_machine_code *first = code_of(profile, before);
	const struct profile_machine_code *second = code_of(profile, op);
	struct occupancy occupancy;

	if (!first || !first->dependent_launch_count || !second || !second->load_before_wait_count)
		return 0;
	if (!occupancy_of(&occupancy, &profile->devices[profile_op_device(profile, op)],
			  &profile->signatures[op->detail]))
		return 0;
	return fmin((double)second->load_before_wait_count / second->load_count,
		    1 - fmin(occupancy.waves, 1));
}

/* Without what it does early, which a replay need not know of: it is over when the one before ends. */
static void shorten(struct application *application, const struct profile_op *op)
{
	const struct model *model = application->run->model;
	size_t index = (size_t)(op - model->profile->ops);
	const struct profile_op *before = &model->profile->ops[model_predecessor(model, index)];
	double share = early_share(model->profile, before, op);
	int64_t *op_ns = application->change.op_ns;

	if (share <= 0 || op_ns[index])
		return;
	application->effect->is_assuming = true;
	if (application->end != ASSUMED_LEAST)
		op_ns[index] = 1 + (int64_t)((1 - share) * (double)(op->end_ns - op->start_ns));
}

/* Kernels of a loop as they are gone through. */
struct followers {
	size_t count, early_count, asked_count;
	const char *refusal; /* of the last one that stays as it is */
};

static bool can_follow(struct followers *found, const struct recorded_run *run,
		       const struct profile_op *op)
{
	const struct profile *profile = run->model->profile;
	uint32_t before = model_predecessor(run->model, op - profile->ops);

	if (before == PROFILE_NONE || profile->ops[before].kind != OP_KERNEL)
		return false;
	if (is_library(run, op))
		found->refusal = refused_library;
	else if (!leaves_room(profile, &profile->ops[before]))
		found->refusal = no_room;
	else
		return true;
	return false;
}

static const char *change_loop(struct application *application, const struct loop *loop)
{
	const struct model *model = application->run->model;
	struct change *change = &application->change;
	uint8_t number = change_number(change, &dependent);
	struct followers found = {.refusal = no_predecessor};

	for (size_t i = loop->first_call; i < loop->first_call + loop->call_count; i++) {
		const struct profile_op *op = call_only_kernel(model, i);

		if (!op || !can_follow(&found, application->run, op))
			continue;
		found.early_count += starts_early(model->profile, op);
		found.count++;
		if (is_asked_for(model->profile, op))
			found.asked_count++;
		else
			change->calls[i] = number;
	}
	if (found.count && found.asked_count == found.count)
		return is_asked;
	if (2 * found.early_count > found.count)
		return is_dependent;
	for (size_t i = loop->first_call; i < loop->first_call + loop->call_count; i++)
		if (change->calls[i] == number)
			shorten(application, call_only_kernel(model, i));
	application->effect->changed_count += found.count - found.asked_count;
	return found.count ? NULL : found.refusal;
}

const struct technique technique_dependent_launch = {
	.id = "dependent_launch",
	.option = "dependent",
	.argument = ARGUMENT_RANGE,
	.help = "a kernel is set up while the one before it ends (programmatic dependent launch)",
	.effect =
		"Kernels that follow another one in their stream, which leaves room on the GPU, are set up while it "
		"ends. Of those whose machine code waits for it, and has loads above the wait, that part runs beside it. What "
		"others can do before they need its results is an additional gain, which is not predicted.",
	.changed = "kernels are set up before they start",
	.assumes =
		"a kernel spends that part of its time above its wait which its loads there are of all; at "
		"the low end none",
	.refusal = no_predecessor,
	.has_ops = true,
	.bound = BOUND_BUSY | BOUND_KERNELS | BOUND_SMS | BOUND_OPEN,
	.spread = SPREAD_LAUNCH,
	.change_loop = change_loop,
};
