/*
 * sm_imbalance.c - kernels whose busiest SM works long after most others have ended.
 *
 * Blocks with more to do than others keep one SM busy while the rest drains.  A
 * queue from which resident blocks take the next item evens that out, where blocks
 * have several.  Samples say how long each SM was active, not what an item is nor how
 * long the longest takes, which a queue cannot shorten: that none takes long is what
 * the prediction assumes.
 *
 * Fires for a kernel that sm_activity_is_imbalanced() finds, when a queue is predicted
 * to be worth it, or where nothing can be predicted when that is more than 10% of wall time.
 */
#include "advice/rules/rules.h"

#include "base/format.h"
#include "base/names/kernel_labels.h"

#define AT_STAKE_RATIO 0.10

/* Of all its launches, also those that were not sampled: what a perfect balance would save. */
static double at_stake_ns(const struct sm_activity_kernel *kernel)
{
	return (double)kernel->filled.all_ns * (1 - kernel->filled.sms / kernel->filled.busiest_sm);
}

/* The kernel with most at stake; NULL when none is out of balance. */
static const struct sm_activity_kernel *worst(const struct facts *facts)
{
	const struct sm_activity *activity = facts->report->sm_activity;
	const struct sm_activity_kernel *found = NULL;

	for (size_t i = 0; activity && i < activity->kernel_count; i++) {
		const struct sm_activity_kernel *kernel = &activity->kernels[i];

		if (sm_activity_is_imbalanced(kernel) && !facts_is_library(facts, kernel->kernel) &&
		    (!found || at_stake_ns(kernel) > at_stake_ns(found)))
			found = kernel;
	}
	return found;
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	const struct sm_activity_kernel *kernel = worst(facts);

	(void)device;
	return kernel ? (int64_t)at_stake_ns(kernel) : 0;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct sm_activity_kernel *kernel = worst(facts);
	const char *name;
	int rc;

	(void)device;
	(void)what_if;
	name = kernel_label(facts->report->profile->kernel_labels,
			    facts->report->profile->kernel_names[kernel->kernel], LABEL_WIDE);
	rc = advice_add_evidence(
		item, "%s: an SM is active for %.0f%% of its life, the busiest for %.0f%%", name,
		100 * kernel->filled.sms, 100 * kernel->filled.busiest_sm);
	if (rc == 0)
		rc = advice_add_evidence(item, "SMs drain for %.0f%% of it",
					 100 * (double)kernel->filled.tail_ns /
						 (double)kernel->filled.span_ns);
	return rc;
}

/* Samples of several devices are of one kernel together: only where there is one. */
static bool is_candidate(const struct facts *facts, size_t device)
{
	return profile_only_device(facts->report->profile) == device && worst(facts);
}

static bool is_promising(const struct facts *facts, size_t device)
{
	return is_candidate(facts, device) &&
	       (double)stake_ns(facts, device) > AT_STAKE_RATIO * facts_main_ns(facts, device);
}

const struct rule rule_sm_imbalance = {
	.id = "sm_imbalance",
	.title = "Let resident blocks take work items from a queue",
	.workload = "work_queue",
	.risk = "Taking an item is an atomic: take several at once where items are short. A "
		"single item that takes longest cannot become shorter.",
	.pattern = "__shared__ int item; /* as many blocks as fit on the GPU */\n"
		   "for (;;) {\n"
		   "    if (threadIdx.x == 0)\n"
		   "        item = atomicAdd(next, 1);\n"
		   "    __syncthreads();\n"
		   "    if (item >= items)\n"
		   "        break;\n"
		   "    work(item);\n"
		   "    __syncthreads();\n"
		   "}",
	.technique = &technique_dynamic_queue,
	.is_candidate = is_candidate,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
};
