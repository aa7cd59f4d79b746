#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "fixture_change.h"

/* A call that is gone, with the host's time before it. */
#define GONE .pause = PAUSE_GONE, .host = COST_NONE

const struct call_change usual_changes[USUAL_CHANGES_END] = {
	[CALL_DROPPED] = {.host = COST_NONE, .submission = SUBMITS_NOTHING},
	[CALL_AS_GRAPH] = {.pause = PAUSE_SHARED,
			   .host = COST_GRAPH_LAUNCH,
			   .submission = SUBMITS_GRAPH,
			   .gap = COST_GRAPH_NODE_GAP},
	[CALL_AS_UPDATED] = {.prepare = COST_NODE_UPDATES,
			     .host = COST_GRAPH_LAUNCH,
			     .submission = SUBMITS_GRAPH,
			     .gap = COST_GRAPH_NODE_GAP},
	[CALL_IN_GRAPH] = {GONE, .submission = SUBMITS_NODES, .gap = COST_GRAPH_NODE_GAP},
	[CALL_AFTER_WORK] = {.host = COST_NONE,
			     .submission = SUBMITS_NODES,
			     .gap = COST_GRAPH_NODE_GAP},
	[CALL_IN_BODY] = {GONE, .submission = SUBMITS_NODES, .gap = COST_CONDITIONAL},
	[CALL_IN_ITERATION] = {GONE, .submission = SUBMITS_NODES, .gap = COST_ITERATION},
	[CALL_AFTER_SKIPPED] = {GONE, .submission = SUBMITS_NODES, .gap = COST_SKIP},
	[CALL_IN_LAUNCHED_GRAPH] = {GONE, .submission = SUBMITS_NODES, .gap = COST_DEVICE_GRAPH},
	[CALL_IN_KERNEL] = {GONE, .submission = SUBMITS_NODES, .gap = COST_BARRIER},
	[CALL_FUSED] = {GONE, .submission = SUBMITS_FUSED},
	[CALL_DEPENDENT] = {.gap = COST_DEPENDENT_GAP},
	[CALL_MADE_ASYNC] = {.host = COST_LAUNCH_CALL},
	[CALL_PINNED_ASYNC] = {.host = COST_LAUNCH_CALL, .start = COST_LAUNCH_TO_START},
	[CALL_PINNED] = {.host = COST_SYNCHRONIZE, .waits = true, .start = COST_LAUNCH_TO_START},
	[CALL_READBACK_GONE] = {GONE, .submission = SUBMITS_PARENT},
	[CALL_READ_GONE] = {.host = COST_NONE},
	[CALL_AS_CHILD] = {GONE, .submission = SUBMITS_CHILDREN},
	[CALL_UPDATES] = {.host = COST_GRAPH_UPDATE, .submission = SUBMITS_NOTHING},
	[CALL_AGAIN] = {.prepare = COST_UPDATED_NODES,
			.host = COST_GRAPH_LAUNCH,
			.start = COST_GRAPH_TO_START},
};

void usual_changes_begin(struct change *change, const struct model *model, bool with_ops)
{
	assert_int_equal(change_begin(change, model, with_ops), 0);
	for (size_t i = 0; i < USUAL_CHANGES_END; i++)
		assert_int_equal(change_number(change, &usual_changes[i]), i);
}

size_t usual_change_of(const struct change *change, size_t call)
{
	const struct call_change *what = change_of_call(change, call);
	size_t usual = 0;

	while (usual < USUAL_CHANGES_END && memcmp(what, &usual_changes[usual], sizeof(*what)) != 0)
		usual++;
	return usual;
}

const char *change_loop_with(const struct technique *technique, struct change *change,
			     struct effect *effect, const struct recorded_run *run,
			     const struct loop *loop, enum assumed_end end)
{
	static struct application application; /* cppcheck takes the refusal for a part of it */
	const char *refusal;

	application =
		(struct application){.run = run, .end = end, .change = *change, .effect = effect};
	*effect = (struct effect){.is_assuming = technique->always_assumes};
	refusal = technique->change_loop(&application, loop);
	*change = application.change;
	return refusal;
}
