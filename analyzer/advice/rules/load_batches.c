/*
 * load_batches.c - Python makes each batch itself, and the GPU waits until it is copied.
 *
 * Workers of a loader make the next batches while the GPU works on this one.
 * Fires where a framework launches the kernels, idle time limits the steady state, and replaying without the host's long
 * pauses before copies to the device gains.
 */
#include "advice/limit.h"
#include "advice/rules/rules.h"
#include "base/format.h"

static bool is_candidate(const struct facts *facts, size_t device)
{
	struct limit limit;

	if (facts->framework == FRAMEWORK_NONE || device != facts->main_device)
		return false;
	limit = limit_find(facts->report);
	return limit.is_steady && limit.kind == LIMIT_IDLE;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	(void)facts;
	(void)device;
	return what_if ? advice_add_evidence(
				 item,
				 "before %s copies to the device Python works for more than 100 us",
				 format_count(what_if->effect.changed_count).text)
		       : 0;
}

const struct rule rule_load_batches = {
	.id = "load_batches",
	.title = "Make the next batches in other threads while the GPU works",
	.risk = "A batch must not depend on the step before. As many workers as there are free cores help; at the low end of the "
		"interval there is one.",
	.in[FRAMEWORK_pytorch] =
		{
			.title =
				"Load batches in workers while the GPU works: DataLoader(num_workers=...)",
			.pattern =
				"loader = DataLoader(data, batch_size, num_workers=8, pin_memory=True,\n"
				"                    persistent_workers=True, prefetch_factor=4)\n"
				"for batch in loader: # made by other processes, ahead of time\n"
				"    batch = batch.to(\"cuda\", non_blocking=True)\n"
				"    batch = augment(batch) # on the GPU, what workers are too slow for",
			.risk = "A loader that has workers already needs more or faster ones. Workers are processes with a random state "
				"and a copy of the data set each; as many as there are free cores help. At the low end of the interval there "
				"is one.",
		},
	.in[FRAMEWORK_jax] =
		{
			.pattern =
				"pool = concurrent.futures.ThreadPoolExecutor(workers)\n"
				"ahead = collections.deque(pool.submit(make_batch, i) for i in range(depth))\n"
				"for i in range(depth, count): # NumPy works without the interpreter's lock\n"
				"    ahead.append(pool.submit(make_batch, i))\n"
				"    state = step(state, jax.device_put(ahead.popleft().result()))",
		},
	.in[FRAMEWORK_cupy] =
		{
			.pattern =
				"pool = concurrent.futures.ThreadPoolExecutor(workers)\n"
				"ahead = collections.deque(pool.submit(make_batch, i) for i in range(depth))\n"
				"batch.set(ahead.popleft().result()) # made while the GPU worked",
		},
	.technique = &technique_load_ahead,
	.is_candidate = is_candidate,
	.add_evidence = add_evidence,
};
