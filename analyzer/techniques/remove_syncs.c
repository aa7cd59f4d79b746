/*
 * remove_syncs.c - the host waits only for what it reads.
 *
 * Waits of a loop are gone after which the host reads nothing that was copied to it; the loop's last one stays.
 */
#include "techniques/techniques.h"

#include "replay/calls.h"

/* Calls [first, end) of a thread wait no more where nothing was copied to the host since the wait before; the last wait
 * of them stays.  Returns how many waits that are. */
static size_t drop_waits(struct change *change, const struct model *model, size_t first, size_t end)
{
	size_t dropped_count = 0, last = end;
	bool is_read = false;

	while (last > first && model_call_class(model, last - 1) != CALL_SYNC)
		last--;
	for (size_t i = first; i + 1 < last; i++) {
		is_read = is_read || call_copies_to_host(model, i);
		if (model_call_class(model, i) != CALL_SYNC)
			continue;
		if (!is_read && change->calls[i] == CALL_KEPT) {
			change->calls[i] = CALL_DROPPED;
			dropped_count++;
		}
		is_read = false;
	}
	return dropped_count;
}

/* Fewer waits than every second iteration has one are not the loop's own: they stay. */
static const char *change_loop(struct application *application, const struct loop *loop)
{
	size_t count = drop_waits(&application->change, application->run->model, loop->first_call,
				  loop->first_call + loop->call_count);

	if (2 * count < loop->iteration_count)
		return refused_nothing;
	application->effect->changed_count += count;
	return NULL;
}

const struct technique technique_remove_syncs = {
	.id = "remove_syncs",
	.option = "fewer-waits",
	.argument = ARGUMENT_RANGE,
	.help = "no synchronization in loops after which the host reads nothing",
	.effect =
		"Synchronization calls of a loop are gone where nothing was copied to the host since the "
		"previous synchronization.",
	.changed = "waits are gone",
	.refusal = refused_nothing,
	.is_shared = true,
	.is_blind_to_device_work = true,
	.bound = BOUND_BUSY,
	.change_loop = change_loop,
};
