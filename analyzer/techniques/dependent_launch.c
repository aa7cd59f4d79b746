/*
 * dependent_launch.c - a kernel is set up while the one before it in its stream ends (programmatic dependent launch).
 *
 * What it can do before it needs results of that one comes on top.
 */
#include "techniques/techniques.h"

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
			change->calls[i] = change_number(change, &dependent);
	}
	if (found.count && found.asked_count == found.count)
		return is_asked;
	if (2 * found.early_count > found.count)
		return is_dependent;
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
		"ends. What they can do before they need its results is an additional gain, which is not "
		"predicted.",
	.changed = "kernels are set up before they start",
	.refusal = no_predecessor,
	.bound = BOUND_BUSY | BOUND_OPEN,
	.spread = SPREAD_LAUNCH,
	.change_loop = change_loop,
};
