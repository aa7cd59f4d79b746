/*
 * batch_launches.c - one small kernel is launched again and again, for one part of the data after the other.
 *
 * One launch with the blocks of all parts fills the GPU and costs one launch; a graph spares only a part of what
 * launching costs and still runs one part at a time.  Where parts differ in time, blocks take them from a queue.
 * Fires when re-simulating the loops so gains something.  That no launch needs what the one before it wrote no
 * recording tells.  Where a row of launches is so short that one for all of them would leave most of the GPU empty as
 * well, fill_gpu says what to do.
 */
#include "advice/rules/rules.h"

#include "analysis/statistics/library_kernel.h"
#include "base/format.h"
#include "base/names/kernel_labels.h"
#include "techniques/batch_launches.h"

/* The longest part takes so many times the mean one: a queue evens that out. */
#define UNEVEN 2

static int add_times(struct recommendation *item, const struct batched_launches *found)
{
	double mean_ns = (double)found->sum_ns / (double)found->most_launches;
	bool is_uneven = (double)found->longest_ns > UNEVEN * mean_ns;

	return advice_add_evidence(item, "they take from %s to %s%s",
				   format_ns((double)found->shortest_ns).text,
				   format_ns((double)found->longest_ns).text,
				   is_uneven ? ": let blocks take parts from a queue (atomicAdd)"
					     : "");
}

/* Whose kernels they are cannot be changed, but another call may do all parts. */
static int add_library(struct recommendation *item, const char *name)
{
	const char *library = library_kernel_of(name);

	return library ? advice_add_evidence(
				 item,
				 "%s chose this kernel: look for a call of it that does "
				 "a batch, as cublasGemmBatchedEx",
				 library)
		       : 0;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct batched_launches found =
		batch_launches_find(&facts->what_ifs.run, &facts->what_ifs.loops, device);
	const struct profile_signature *launch =
		&facts->report->profile->signatures[found.signature];
	const char *name;
	int rc;

	(void)what_if;
	name = kernel_label(facts->report->profile->kernel_labels, launch->name, LABEL_WIDE);
	rc = advice_add_evidence(
		item, "%s: up to %s launches with nothing but small memsets between them", name,
		format_count(found.most_launches).text);
	if (rc == 0)
		rc = advice_add_evidence(item, "each has blocks for %.0f%% of the SMs",
					 100 * found.fill);
	if (rc == 0)
		rc = add_times(item, &found);
	return rc < 0 ? rc : add_library(item, launch->name);
}

/* Of the SMs: a launch with blocks for no more is small itself. */
#define SMALL_FILL 0.5

static bool is_candidate(const struct facts *facts, size_t device)
{
	const struct batched_launches found =
		batch_launches_find(&facts->what_ifs.run, &facts->what_ifs.loops, device);

	return !found.most_launches || (double)found.most_launches * found.fill > SMALL_FILL;
}

const struct rule rule_batch_launches = {
	.id = "batch_launches",
	.title = "Launch the kernel once, with the blocks of all parts",
	.workload = "dp_tokens",
	.risk = "Only where no part needs what a part before it wrote: steps of one computation need a "
		"graph or a persistent kernel instead. What differs between the parts must be in arrays on "
		"the device.",
	.pattern = "__global__ void all(const struct part *parts) /* pointers, sizes */\n"
		   "{\n"
		   "    work(parts[blockIdx.y]); /* or a queue where parts differ */\n"
		   "}\n"
		   "all<<<dim3(blocks, part_count), threads, 0, stream>>>(parts);",
	.in[FRAMEWORK_pytorch] =
		{
			.pattern = "torch._foreach_add_(tensors, 1.0) # one launch for a list\n"
				   "torch.optim.AdamW(parameters, fused=True)\n"
				   "output = f(torch.stack(parts)) # parts of one shape",
		},
	.in[FRAMEWORK_jax] =
		{
			.title = "Compute all parts in one call: jax.vmap",
			.pattern = "outputs = jax.jit(jax.vmap(f))(jnp.stack(parts))",
		},
	.in[FRAMEWORK_cupy] =
		{
			.title = "Compute all parts in one call on a stacked array",
			.pattern = "output = f(cupy.stack(parts)) # parts of one shape",
		},
	.technique = &technique_batch_launches,
	.is_candidate = is_candidate,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
};
