/*
 * remove_syncs.c - the host waits only for what it reads.
 *
 * Waits of a loop are gone after which the host reads nothing that was copied to it; the loop's last one stays.  So do
 * those behind a kernel that was given memory of the host's own, pinned or managed, where that was recorded, and those
 * right before code is unloaded, which nobody may run then.
 */
#include "techniques/techniques.h"

#include "analysis/statistics/jit.h"
#include "replay/calls.h"
#include "techniques/shared/dependences.h"

static const char host_memory[] =
	"before each wait a kernel is given memory that the host reads and writes itself";

struct waits {
	size_t dropped_count;
	size_t needed_count; /* for memory of the host's */
};

/* A copy that returns when it is done needs no other wait. */
static bool needs_wait(const struct model *model, size_t call)
{
	return call_copies_to_host(model, call) &&
	       model->call_traits[call].behavior != CALL_WAITS_OWN;
}

static bool is_before_unload(const struct model *model, size_t call)
{
	return jit_is_unload(model->profile, &model->profile->calls[call + 1]);
}

/* Calls [first, end) of a thread wait no more where nothing was copied to the host since the wait before that did not wait
 * itself; the last wait of them stays. */
static struct waits drop_waits(struct application *application, size_t first, size_t end)
{
	const struct model *model = application->run->model;
	const struct accesses *accesses = dependences_recorded(application->run->report);
	struct change *change = &application->change;
	struct waits waits = {0};
	bool is_read = false, is_shared = false;
	size_t last = end;

	while (last > first && model_call_class(model, last - 1) != CALL_SYNC)
		last--;
	for (size_t i = first; i + 1 < last; i++) {
		is_read = is_read || needs_wait(model, i);
		is_shared = is_shared || dependences_reach_host(accesses, model, i);
		if (model_call_class(model, i) != CALL_SYNC)
			continue;
		if (!is_read && !is_shared && change->calls[i] == CALL_KEPT &&
		    !is_before_unload(model, i)) {
			change->calls[i] = CALL_DROPPED;
			waits.dropped_count++;
		}
		waits.needed_count += is_shared;
		is_read = is_shared = false;
	}
	return waits;
}

/* Fewer waits than every second iteration has one are not the loop's own: they stay. */
static const char *change_loop(struct application *application, const struct loop *loop)
{
	struct waits waits =
		drop_waits(application, loop->first_call, loop->first_call + loop->call_count);

	if (2 * waits.dropped_count < loop->iteration_count)
		return waits.needed_count ? host_memory : refused_nothing;
	application->effect->changed_count += waits.dropped_count;
	return NULL;
}

const struct technique technique_remove_syncs = {
	.id = "remove_syncs",
	.option = "fewer-waits",
	.argument = ARGUMENT_RANGE,
	.help = "no synchronization in loops after which the host reads nothing",
	.effect =
		"Synchronization calls of a loop are gone where nothing was copied to the host since the "
		"previous synchronization, but by copies that wait themselves; those right before code is "
		"unloaded stay. With a recording by --args those stay before which a kernel was "
		"given pinned or managed memory, which the host may read itself.",
	.changed = "waits are gone",
	.refusal = refused_nothing,
	.tried_by = "fewer-waits",
	.is_shared = true,
	.is_blind_to_device_work = true,
	.moves_waits = true,
	.is_of_calls = true,
	.bound = BOUND_BUSY,
	.spread = SPREAD_HOST,
	.change_loop = change_loop,
};
