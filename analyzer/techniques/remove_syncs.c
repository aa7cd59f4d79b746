/*
 * remove_syncs.c - the host waits only for what it reads.
 *
 * Waits of a loop are gone after which the host reads nothing that was copied to it; the loop's last one stays.  So do
 * those behind a kernel that was given memory of the host's own, pinned or managed, where that was recorded, and those
 * right before code is unloaded, which nobody may run then.
 */
#include "techniques/techniques.h"

#include "analysis/statistics/jit.h"
#include "base/search.h"
#include "replay/calls.h"
#include "techniques/shared/dependences.h"

/* Calls about events between the record of one and the wait for it: further back it is not looked for. */
#define RECORDED_BEFORE 256

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

struct call_search {
	const struct profile_event_call *rows;
	size_t call;
};

static bool is_call_reached(size_t index, const void *context)
{
	const struct call_search *search = context;

	return search->rows[index].call >= search->call;
}

/* Where the event was recorded that a wait of the host is for; the call after the wait where it is for more than an event,
 * or no call from first on records that one. */
static size_t end_of_awaited(const struct profile *profile, size_t first, size_t wait)
{
	const struct profile_event_call *rows = profile->event_calls;
	size_t at = search_first(0, profile->event_call_count, is_call_reached,
				 &(struct call_search){rows, wait});
	size_t least = at > RECORDED_BEFORE ? at - RECORDED_BEFORE : 0;

	if (at == profile->event_call_count || rows[at].call != wait ||
	    rows[at].kind != EVENT_AWAITED_BY_HOST)
		return wait + 1;
	for (size_t i = at; i-- > least && rows[i].call >= first;)
		if (rows[i].kind == EVENT_RECORDED && rows[i].event == rows[at].event)
			return rows[i].call;
	return wait + 1;
}

/* Whether calls [first, end) copy something to the host that it has to wait for. */
static bool is_any_read(const struct model *model, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++)
		if (needs_wait(model, i))
			return true;
	return false;
}

static bool is_any_shared(const struct accesses *accesses, const struct model *model, size_t first,
			  size_t end)
{
	for (size_t i = first; i < end; i++)
		if (dependences_reach_host(accesses, model, i))
			return true;
	return false;
}

/* Calls [first, end) of a thread wait no more where nothing was copied to the host before what they wait for that no wait
 * before them was for, and that did not wait itself; the last wait of them stays. */
static struct waits drop_waits(struct application *application, size_t first, size_t end)
{
	const struct model *model = application->run->model;
	const struct accesses *accesses = dependences_recorded(application->run->report);
	struct change *change = &application->change;
	struct waits waits = {0};
	size_t last = end, seen_end = first; /* waits were for all calls before seen_end */

	while (last > first && model_call_class(model, last - 1) != CALL_SYNC)
		last--;
	for (size_t i = first; i + 1 < last; i++) {
		size_t awaited_end;
		bool is_shared;

		if (model_call_class(model, i) != CALL_SYNC)
			continue;
		awaited_end = end_of_awaited(model->profile, first, i);
		is_shared = is_any_shared(accesses, model, seen_end, awaited_end);
		if (!is_shared && !is_any_read(model, seen_end, awaited_end) &&
		    change->calls[i] == CALL_KEPT && !is_before_unload(model, i)) {
			change->calls[i] = CALL_DROPPED;
			waits.dropped_count++;
		}
		waits.needed_count += is_shared;
		seen_end = awaited_end > seen_end ? awaited_end : seen_end;
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
		"Synchronization calls of a loop are gone where nothing was copied to the host since "
		"what the previous ones waited for, but by copies that wait themselves; one for an "
		"event waits for what comes before its record. Those right before code is unloaded "
		"stay. With a recording by --args those stay before which a kernel was given pinned or "
		"managed memory, which the host may read itself.",
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
