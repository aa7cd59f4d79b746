/*
 * hot_atomics.c - atomics on few addresses take most of a kernel's time.
 *
 * The atomic unit that owns an address takes one at a time, however many SMs ask.
 * Merged before, in a register, a warp, a block or shared memory, fewer arrive.
 * Fires for the kernel with most such time when atomics are its bottleneck, says
 * analysis/counters/atomics.h, and what they explain is more than 5% of wall time.  How many
 * a block can merge and how long that takes no counter tells: the prediction assumes
 * as many as leave the rest of the kernel to decide, at no cost.
 */
#include "advice/rules/rules.h"

#include "analysis/statistics/library_kernel.h"
#include "base/format.h"
#include "base/names/kernel_labels.h"

#define AT_STAKE_RATIO 0.05

/* The kernel with most time to gain; NULL when atomics bind none. */
static const struct atomics_kernel *worst(const struct facts *facts)
{
	const struct atomics *atomics = facts->report->atomics;
	const struct atomics_kernel *found = NULL;

	for (size_t i = 0; atomics && i < atomics->kernel_count; i++) {
		const struct atomics_kernel *kernel = &atomics->kernels[i];

		if (kernel->is_bottleneck && kernel->batch > 1 && kernel->duration_ns > 0 &&
		    (!found || kernel->time_ns > found->time_ns))
			found = kernel;
	}
	return found;
}

/* Of all launches, what is not the kernel's other work. */
static int64_t stake_ns(const struct facts *facts, size_t device)
{
	const struct atomics_kernel *kernel = worst(facts);

	(void)device;
	if (!kernel)
		return 0;
	return (int64_t)(kernel->time_ns * (1 - (kernel->other_ns < kernel->duration_ns
							 ? kernel->other_ns / kernel->duration_ns
							 : 1)));
}

/* Its source is nobody's to change, what it is called with is. */
static int add_library(struct recommendation *item, const char *name)
{
	const char *library = library_kernel_of(name);

	return library ? advice_add_evidence(
				 item,
				 "%s makes them: add up what goes to one place before the call "
				 "(sorted, by segments), or let it add to several copies",
				 library)
		       : 0;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct atomics_kernel *kernel = worst(facts);
	const char *name;
	int rc;

	(void)device;
	(void)what_if;
	name = kernel_label(facts->report->profile->kernel_labels, kernel->name, LABEL_WIDE);
	rc = advice_add_evidence(item, "%s: atomics explain %s of the %s that a launch takes", name,
				 format_ns(kernel->explained_ns).text,
				 format_ns(kernel->duration_ns).text);
	if (rc == 0)
		rc = advice_add_evidence(
			item,
			"the busiest atomic unit is busy for %.0f%% of it, the mean one for %.1f%%",
			100 * kernel->hottest_share, 100 * kernel->unit_share);
	if (rc == 0)
		rc = advice_add_evidence(
			item,
			"with %s of them merged into one before they leave a block they would not "
			"bind it",
			format_count(kernel->batch).text);
	return rc < 0 ? rc : add_library(item, kernel->name);
}

/* Counters of several devices are of one kernel together: only where there is one. */
static bool is_promising(const struct facts *facts, size_t device)
{
	const struct report *report = facts->report;
	double wall_ns = facts_main_ns(facts, device);

	return report->atomics && profile_only_device(report->profile) == device &&
	       (double)stake_ns(facts, device) > AT_STAKE_RATIO * wall_ns;
}

const struct rule rule_hot_atomics = {
	.id = "hot_atomics",
	.title = "Merge atomics before they reach memory",
	.workload = "atomic_batch",
	.risk = "Sums of floating-point numbers in another order round otherwise. Shared memory and "
		"registers for the partial results may lower the occupancy.",
	.pattern = "int sum = 0; /* in a register; or in shared memory, for the block */\n"
		   "for (int i = 0; i < batch; i++)\n"
		   "    sum += value(i);\n"
		   "sum = __reduce_add_sync(0xffffffff, sum); /* for the warp */\n"
		   "if (threadIdx.x % 32 == 0)\n"
		   "    atomicAdd(total, sum);",
	.technique = &technique_aggregate_atomics,
	.is_candidate = is_promising,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
};
