/*
 * allocation_in_loop.c - memory is allocated and freed again and again, and the GPU waits for that.
 *
 * cudaMalloc and cudaFree wait for the GPU and keep it waiting.  Fires when re-simulating the loops without them gains
 * something; where nothing can be predicted, when they are as many as launches that repeat and the GPU is idle inside
 * them for more than a prediction may be off.  What is predicted is a loop without them: how long an allocation in
 * stream order takes is no ceiling yet.
 */
#include "advice/rules/rules.h"

#include "base/format.h"

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	return facts->report->gaps->devices[device].by_cause_ns[GAP_ALLOCATION];
}

/* Without those in stream order. */
static uint64_t allocation_count(const struct facts *facts)
{
	return facts_use_of(facts, "Malloc").count + facts_use_of(facts, "MemAlloc").count -
	       facts_use_of(facts, "MallocAsync").count -
	       facts_use_of(facts, "MemAllocAsync").count;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	(void)what_if;
	return advice_add_evidence(
		item,
		"%s allocations; the GPU was idle for %s while memory was allocated "
		"or freed",
		format_count(allocation_count(facts)).text,
		format_ns((double)stake_ns(facts, device)).text);
}

static bool is_at_stake(const struct facts *facts, size_t device, double least_ratio)
{
	return (double)stake_ns(facts, device) > least_ratio * facts_wall_ns(facts, device);
}

static bool is_candidate(const struct facts *facts, size_t device)
{
	return is_at_stake(facts, device, LEAST_PROGRAM_RATIO);
}

/* Nobody says then whether they are a loop's: as many as iterations that repeat. */
static bool is_promising(const struct facts *facts, size_t device)
{
	return allocation_count(facts) >= REPEATED_LAUNCH_COUNT &&
	       is_at_stake(facts, device, LEAST_ESTIMATED_RATIO);
}

const struct rule rule_allocation_in_loop = {
	.id = "allocation_in_loop",
	.title = "Allocate once before the loop, or in stream order from a pool",
	.workload = "graph_memory",
	.risk = "What is kept is memory that nobody else has. A pool gives memory back at each "
		"wait unless its release threshold is raised.",
	.pattern = "cudaMallocAsync(&scratch, bytes, stream); /* in place of cudaMalloc */\n"
		   "kernel<<<grid, block, 0, stream>>>(scratch);\n"
		   "cudaFreeAsync(scratch, stream);",
	.in[FRAMEWORK_pytorch] =
		{
			.pattern =
				"output = torch.empty_like(x) # once, before the loop\n"
				"torch.add(x, y, out=output)\n"
				"# the environment: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
			.risk = "PyTorch keeps freed memory: calls of cudaMalloc in a loop come of "
				"sizes that grow, or of torch.cuda.empty_cache().",
		},
	.in[FRAMEWORK_jax] =
		{
			.title = "Reuse buffers: jax.jit(..., donate_argnums=0)",
			.pattern =
				"step = jax.jit(step, donate_argnums=0) # new state over the old one\n"
				"# the environment: XLA_PYTHON_CLIENT_PREALLOCATE=true (the default)",
			.risk = "A donated array must not be used after the call.",
		},
	.in[FRAMEWORK_cupy] =
		{
			.title = "Keep the memory pool, and write into arrays that stay: out=",
			.pattern =
				"cupy.cuda.set_allocator(cupy.cuda.MemoryPool().malloc) # the default\n"
				"cupy.add(x, y, out=result)",
			.risk = "Calls of cudaMalloc in a loop come of sizes that grow, of free_all_blocks(), or of another allocator.",
		},
	.in[FRAMEWORK_numba] =
		{
			.title = "Allocate device arrays once, before the loop",
			.pattern = "y = cuda.device_array(shape, dtype) # once\n"
				   "for x in inputs:\n"
				   "    kernel[blocks, threads](x, y)",
			.risk = "An array of NumPy as an argument is allocated and freed on the device in each launch.",
		},
	.technique = &technique_preallocate,
	.is_candidate = is_candidate,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
};
