/*
 * register_spills.c - a kernel keeps variables in local memory.
 *
 * What does not fit in a thread's registers is stored to memory of its own and loaded
 * back, through L1 and L2 like any other (spilled_kernels.h).  Fires for the kernel with
 * most time among those with at least 32 bytes, eight registers, of it for each thread,
 * when it runs for more than 10% of wall time.  No recording tells how often they are
 * accessed, nor whether they were spilled at all, so there is no figure for what it costs.
 */
#include "advice/rules/rules.h"

#include "analysis/statistics/spilled_kernels.h"
#include "base/format.h"
#include "base/names/kernel_labels.h"

#define WALL_RATIO 0.10

static const struct profile_signature *signature_of(const struct facts *facts,
						    const struct kernel_statistics *kernel)
{
	return &facts->report->profile->signatures[kernel->signature];
}

/* NULL when no kernel of the device has any. */
static const struct kernel_statistics *worst(const struct facts *facts, size_t device)
{
	const struct statistics *statistics = facts->report->statistics;
	const struct kernel_statistics *found = NULL;

	for (size_t i = 0; i < statistics->kernel_count; i++) {
		const struct kernel_statistics *kernel = &statistics->kernels[i];

		if (kernel->device == device &&
		    !facts_is_library(facts, signature_of(facts, kernel)->kernel) &&
		    spilled_signature(signature_of(facts, kernel)) &&
		    (!found || kernel->time.total_ns > found->time.total_ns))
			found = kernel;
	}
	return found;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct kernel_statistics *kernel = worst(facts, device);
	const struct profile_signature *signature = signature_of(facts, kernel);
	const char *name;
	int rc;

	(void)what_if;
	name = kernel_label(facts->report->profile->kernel_labels, kernel->name, LABEL_WIDE);
	rc = advice_add_evidence(
		item, "%s: %u bytes of local memory for each thread, beside %u registers", name,
		signature->local_bytes_per_thread, signature->registers_per_thread);
	if (rc == 0)
		rc = advice_add_evidence(item, "%s launches of it take %s",
					 format_count(kernel->time.count).text,
					 format_ns((double)kernel->time.total_ns).text);
	return rc;
}

static bool is_promising(const struct facts *facts, size_t device)
{
	const struct kernel_statistics *kernel = worst(facts, device);
	double wall_ns = facts_main_ns(facts, device);

	return kernel && (double)kernel->time.total_ns > WALL_RATIO * wall_ns;
}

const struct rule rule_register_spills = {
	.id = "register_spills",
	.strategy = "fewer_registers",
	.title = "Keep what spills to local memory in registers",
	.workload = "overfused",
	.risk = "Local memory also holds arrays that are indexed by variables, and the stack: "
		"nvcc -Xptxas -v tells spills from them. More registers for each thread leave "
		"room for fewer threads.",
	.pattern = "/* let the compiler use more: no --maxrregcount, or a smaller block */\n"
		   "__global__ void __launch_bounds__(128) kernel(...);\n"
		   "/* or keep less alive: split the kernel where little passes between */\n"
		   "first<<<grid, block, 0, stream>>>(...);\n"
		   "second<<<grid, block, 0, stream>>>(...);",
	.is_promising = is_promising,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
	.is_unsure = true,
};
