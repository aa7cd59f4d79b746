/*
 * persistent_kernel.c - a loop launches nothing but short kernels, each of which fits on the GPU at once.
 *
 * One kernel that stays, with a grid-wide barrier where one ended, spares their launches and the gaps between them.  Fires
 * when re-simulating the loops so gains something, where that is more than a prediction may be off over what a graph
 * brings: a graph leaves the kernels as they are.
 */
#include "advice/rules/rules.h"

#include "base/format.h"
#include "replay/prediction.h"

static const enum rule_number simpler[] = {RULE_launch_bound_graph, RULE_unroll_graph,
					   RULE_dependent_launch, RULE_COUNT};

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct ceilings *ceilings = facts->report->ceilings;
	int rc = advice_add_evidence(
		item,
		"%s kernels with nothing but launches between them, and all blocks of "
		"each fit on the GPU at once",
		format_count(what_if->effect.changed_count).text);

	(void)device;
	if (rc == 0)
		rc = advice_add_evidence(
			item,
			"on this GPU a barrier for the grid takes %s, and a launch the host %s",
			format_ns(ceilings_at(ceilings, CEILING_grid_barrier, 0)).text,
			format_ns(ceilings_at(ceilings, CEILING_launch_call, 0)).text);
	return rc;
}

const struct rule rule_persistent_kernel = {
	.id = "persistent_kernel",
	.title = "Make the loop one kernel that stays, with a barrier for the grid in each step",
	.workload = "persistent",
	.risk = "All steps share the registers, shared memory and grid of one kernel, and its blocks must all "
		"fit at once: launch it with cudaLaunchCooperativeKernel, which fails otherwise. Nothing else "
		"gets the SMs until it ends.",
	.pattern = "auto grid = cooperative_groups::this_grid(); /* in the kernel */\n"
		   "for (int i = 0; i < count; i++) {\n"
		   "    step(i);\n"
		   "    grid.sync();\n"
		   "}\n"
		   "/* on the host: */\n"
		   "cudaLaunchCooperativeKernel(kernel, blocks, threads, args, 0, stream);",
	.technique = &technique_persistent_kernel,
	.simpler = simpler,
	.needs_low = true,
	.simpler_times = 1 + MODEL_MARGIN,
	.add_evidence = add_evidence,
	.needs_cuda_source = true,
};
