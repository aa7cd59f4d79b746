/*
 * host_code.c - the launching thread runs code of its own while the GPU is idle.
 *
 * A recording does not show which of that code is needed, so this is a bound: the run with none of it between the calls of
 * loops.
 * Fires where that code is the largest cause of the idle time that limits the steady state, and no graph, which
 * removes the code between the launches that it holds, brings as much.
 */
#include "advice/limit.h"
#include "advice/rules/rules.h"
#include "base/format.h"

static const enum rule_number simpler[] = {RULE_launch_bound_graph, RULE_unroll_graph, RULE_COUNT};

static bool is_candidate(const struct facts *facts, size_t device)
{
	struct limit limit;

	if (device != facts->main_device)
		return false;
	limit = limit_find(facts->report);
	return limit.is_steady && limit.kind == LIMIT_IDLE && limit.cause == GAP_HOST;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	struct limit limit = limit_find(facts->report);

	(void)device;
	(void)what_if;
	return advice_add_evidence(
		item,
		"the GPU is idle for %s, %.1f%% of %s, while the launching thread runs its own code",
		format_ns((double)limit.cause_ns).text,
		100 * (double)limit.cause_ns / (double)limit.wall_ns, limit_whole(&limit));
}

const struct rule rule_host_code = {
	.id = "host_code",
	.title = "Shorten the host's own code between its calls, or move it to another thread",
	.risk = "This is a bound: the run with no such code in its loops. A profile of the host shows which "
		"of it can go; see the next step.",
	.pattern = "/* another thread prepares the next iteration while this one launches */\n"
		   "auto following = std::async(std::launch::async, prepare, i + 1);\n"
		   "launch(current, stream);\n"
		   "current = following.get();",
	.in[FRAMEWORK_pytorch] =
		{
			.title =
				"Shorten what Python does between launches: loader workers, torch.compile",
			.pattern =
				"loader = DataLoader(data, num_workers=8, pin_memory=True,\n"
				"                    persistent_workers=True, prefetch_factor=4)\n"
				"step = torch.compile(step) # fewer operators for Python to dispatch\n"
				"torch.optim.AdamW(parameters, fused=True) # one call, not hundreds",
		},
	.in[FRAMEWORK_jax] =
		{
			.title =
				"Shorten what Python does between launches: one jax.jit for the whole step",
			.pattern =
				"@jax.jit # the whole step: what is outside of it runs in Python\n"
				"def step(state, batch): ...\n"
				"for batch in prefetched(batches): # made by another thread or process",
		},
	.in[FRAMEWORK_cupy] =
		{
			.title =
				"Shorten what Python does between launches: fewer, larger operations",
			.pattern =
				"@cupy.fuse() # one launch for several elementwise operations\n"
				"def update(x, y): ...\n"
				"update_kernel = cupy.ElementwiseKernel(...) # or a kernel of your own",
		},
	.in[FRAMEWORK_numba] =
		{
			.title =
				"Shorten what Python does between launches: device arrays, fewer launches",
			.pattern = "x = cuda.to_device(x) # once: no conversion at each launch\n"
				   "kernel[blocks, threads, stream](x, y)",
		},
	.technique = &technique_free_host,
	.simpler = simpler,
	.simpler_times = 1,
	.is_candidate = is_candidate,
	.add_evidence = add_evidence,
	.is_unsure = true,
	.bound = "without the host's own code between its calls",
};
