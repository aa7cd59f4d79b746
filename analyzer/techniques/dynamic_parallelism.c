/*
 * dynamic_parallelism.c - what the host launches for data that it reads is launched by the device.
 *
 * The host reads up to READBACK_BYTES, and what it launches then varies: these kernels are launched by the kernel before
 * what was read, without the copies and waits.  Side by side as far as they fit, and at the low end one after the other.
 */
#include "techniques/techniques.h"

#include "replay/calls.h"
#include "techniques/shared/readbacks.h"

static const char no_children[] =
	"no kernel is launched whose number or grid varies with what the host reads";

/* A readback that is gone, or the wait for it. */
static const struct call_change gone_readback = {.pause = PAUSE_GONE,
						 .host = COST_NONE,
						 .submission = SUBMITS_PARENT};
static const struct call_change child_launch = {.pause = PAUSE_GONE,
						.host = COST_NONE,
						.submission = SUBMITS_CHILDREN};

static bool is_child(const struct readbacks *readbacks, const struct profile_op *op)
{
	return readbacks->kernels[readbacks->model->profile->signatures[op->detail].kernel].varies;
}

/* Takes in the next call; the kernel of it that is the device's, or NULL.  Any other one ends what follows from a
 * readback. */
static const struct profile_op *next_child(struct readbacks *readbacks, size_t call)
{
	const struct profile_op *op = readbacks_next(readbacks, call);

	if (!op || is_child(readbacks, op))
		return op;
	readbacks->is_read = false;
	return NULL;
}

static uint64_t count_children(struct readbacks readbacks, size_t first)
{
	uint64_t launched_count = 0;

	for (size_t i = first; i < readbacks.end; i++)
		launched_count += next_child(&readbacks, i) != NULL;
	return 2 * launched_count >= readbacks.round ? launched_count : 0;
}

/* Readbacks, and the waits for them, are gone; what varies with what was read is the device's. */
static void launch_children(struct change *change, struct readbacks *readbacks, size_t first)
{
	const struct model *model = readbacks->model;
	const struct profile_op *ops = model->profile->ops;
	bool is_awaited = false; /* a readback, until the wait for it */

	for (size_t i = first; i < readbacks->end; i++) {
		const struct profile_op *read = readbacks_copy(model, i, readbacks->end);
		const struct profile_op *child = next_child(readbacks, i);

		if (read) {
			change->calls[i] = change_number(change, &gone_readback);
			change->op_ns[read - ops] = OP_GONE;
			is_awaited = true;
		} else if (is_awaited && model_call_class(model, i) == CALL_SYNC) {
			change->calls[i] = change_number(change, &gone_readback);
			is_awaited = false;
		} else if (child) {
			change->calls[i] = change_number(change, &child_launch);
			change->fill[child - ops] = (uint8_t)call_fill(model->profile, child);
		}
	}
}

static const char *change_loop(struct application *application, const struct loop *loop)
{
	const struct model *model = application->run->model;
	struct change *change = &application->change;
	size_t first = loop->first_call, end = first + loop->call_count;
	struct readbacks readbacks = {.model = model,
				      .end = end,
				      .kernels = application->readback_kernels};
	uint64_t child_count;

	if (!costs_has_children(application->run->ceilings))
		return refused_not_measured;
	for (size_t i = first; i < end; i++)
		if (model_call_class(model, i) == CALL_MEMORY && change->calls[i] != CALL_DROPPED)
			return refused_allocates;
	readbacks_collect(&readbacks, first);
	child_count = count_children(readbacks, first);
	if (!child_count)
		return no_children;
	launch_children(change, &readbacks, first);
	change->are_beside = application->end != ASSUMED_LEAST;
	application->effect->changed_count += child_count;
	return NULL;
}

const struct technique technique_dynamic_parallelism = {
	.id = "dynamic_parallelism",
	.option = "device-launch",
	.argument = ARGUMENT_RANGE,
	.help = "what the host launches for data that it reads is launched by the device",
	.effect =
		"Kernels whose number or grid varies with what the host has just read (up to 64 KiB) are "
		"launched by the kernel before them (dynamic parallelism).",
	.changed = "kernels are launched by the device",
	.assumes =
		"the host reads for nothing else, and the kernels are independent of each other; at the "
		"low end they run one after the other",
	.refusal = no_children,
	.always_assumes = true,
	.is_up_to = true,
	.has_ops = true,
	.has_lanes = true,
	.moves_waits = true,
	.bound = BOUND_BUSY | BOUND_ENGINES | BOUND_READS,
	.spread = SPREAD_LAUNCH,
	.change_loop = change_loop,
};
