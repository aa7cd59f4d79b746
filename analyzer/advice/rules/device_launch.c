/*
 * device_launch.c - the host reads what the data asks for, waits, and launches a kernel for each of it.
 *
 * The kernel that finds the data can launch them itself (dynamic parallelism), or leave a list to one
 * kernel behind it.  Fires when re-simulating the loops so gains something.
 */
#include "advice/rules/rules.h"

#include "base/format.h"

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	(void)facts;
	(void)device;
	return advice_add_evidence(item,
				   "%s kernels, in number or size by what the host read before",
				   format_count(what_if->effect.changed_count).text);
}

const struct rule rule_device_launch = {
	.id = "device_launch",
	.title = "Launch from the device what its data asks for",
	.workload = "dp_tokens",
	.risk = "A launch from the device takes microseconds, too: where there are many small ones, one "
		"kernel for a list of them is faster. More than 2,048 that wait need a higher "
		"cudaLimitDevRuntimePendingLaunchCount.",
	.pattern = "/* in the kernel that finds it; nvcc -rdc=true, -lcudadevrt */\n"
		   "if (is_special(item) && threadIdx.x == 0)\n"
		   "    child<<<grid, block, 0, cudaStreamFireAndForget>>>(item);\n"
		   "/* or after this kernel's end: cudaStreamTailLaunch */",
	.technique = &technique_dynamic_parallelism,
	.said_by = "host_decision",
	.add_evidence = add_evidence,
	.needs_cuda_source = true,
};
