/*
 * preallocate.c - memory of loops is allocated before them and freed behind them.
 */
#include "techniques/techniques.h"

#include "techniques/shared/waits.h"

static bool is_allocating(const struct model *model, size_t call)
{
	return model_call_class(model, call) == CALL_MEMORY;
}

/* A wait right before memory is freed or allocated is for that.  Returns how many calls that allocate or free it are
 * gone. */
static size_t drop_allocations(struct change *change, const struct model *model,
			       const struct loop *loop)
{
	size_t end = loop->first_call + loop->call_count, dropped_count = 0;

	for (size_t i = loop->first_call; i < end; i++) {
		bool is_wait_for_it = model_call_class(model, i) == CALL_SYNC && i + 1 < end &&
				      is_allocating(model, i + 1);

		if ((!is_allocating(model, i) && !is_wait_for_it) || change->calls[i] != CALL_KEPT)
			continue;
		change->calls[i] = CALL_DROPPED;
		dropped_count += is_allocating(model, i);
	}
	waits_keep_others(change, model, loop);
	return dropped_count;
}

static const char *change_loop(struct application *application, const struct loop *loop)
{
	size_t count = drop_allocations(&application->change, application->run->model, loop);

	if (count < loop->iteration_count)
		return refused_nothing;
	application->effect->changed_count += count;
	return NULL;
}

const struct technique technique_preallocate = {
	.id = "preallocate",
	.option = "preallocate",
	.argument = ARGUMENT_RANGE,
	.help = "memory of loops is allocated before them",
	.effect =
		"Calls of a loop that allocate or free memory are gone, and synchronization right "
		"before them.",
	.changed = "calls that allocate or free are gone",
	.refusal = refused_nothing,
	.is_shared = true,
	.tried_by = "pool",
	.is_of_calls = true,
	.bound = BOUND_BUSY,
	.spread = SPREAD_HOST,
	.change_loop = change_loop,
};
