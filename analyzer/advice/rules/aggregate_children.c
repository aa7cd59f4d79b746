/*
 * aggregate_children.c - kernels launch many children that have next to nothing to do.
 *
 * A launch from the device takes microseconds, as long as thousands of threads work.  A list of the items, for one
 * kernel that is launched once, or a loop in the parent itself spares that.  Found in samples, as the trace has no
 * children.  Fires for parents that launch at least eight children each, of up to two blocks on average, when parents
 * and children take more than 10% of wall time; and for at least 100 kernels of one block that no launch explains,
 * more than twice as many as the trace has operations, when the trace has nothing for more than 10% of wall time
 * but work that was submitted, or what seem to be children.  Such kernels may be children, or what the GPU runs to launch them.
 */
#include "advice/rules/rules.h"

#include "base/format.h"
#include "base/names/kernel_labels.h"

#define LEAST_CHILDREN 8
#define MOST_BLOCKS 2
#define LEAST_SINGLE_BLOCKS 100
#define SINGLE_BLOCKS_PER_OP 2
#define AT_STAKE_RATIO 0.10

static bool has_tiny_children(const struct launcher *launcher)
{
	return !launcher->is_graph &&
	       launcher->dispatch_count >= LEAST_CHILDREN * launcher->launch_count &&
	       launcher->block_count <= MOST_BLOCKS * launcher->dispatch_count;
}

/* The parent with most time of its children, or NULL. */
static const struct launcher *worst(const struct facts *facts)
{
	const struct device_work *work = facts->report->device_work;

	for (size_t i = 0; i < work->launcher_count; i++)
		if (has_tiny_children(&work->launchers[i]))
			return &work->launchers[i];
	return NULL;
}

/* Of all of them: their launches, and what ran on after them. */
static int64_t launchers_ns(const struct device_work *work)
{
	int64_t sum_ns = 0;

	for (size_t i = 0; i < work->launcher_count; i++) {
		const struct launcher *launcher = &work->launchers[i];

		if (has_tiny_children(launcher))
			sum_ns += launcher->is_inside ? launcher->span_ns : launcher->time.total_ns;
	}
	return sum_ns;
}

static bool has_single_blocks(const struct facts *facts, size_t device)
{
	uint64_t count = facts->report->device_work->single_block_count;

	return count >= LEAST_SINGLE_BLOCKS &&
	       count > SINGLE_BLOCKS_PER_OP * facts->report->profile->devices[device].op_count;
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	const int64_t *idle_ns = facts->report->gaps->devices[device].by_cause_ns;
	int64_t sum_ns = launchers_ns(facts->report->device_work);

	if (has_single_blocks(facts, device))
		sum_ns += idle_ns[GAP_DEVICE] + idle_ns[GAP_CHILDREN];
	return sum_ns;
}

static int add_parent(struct recommendation *item, const struct facts *facts,
		      const struct launcher *launcher)
{
	double children = (double)launcher->dispatch_count;
	const char *name;

	name = kernel_label(facts->report->profile->kernel_labels,
			    facts->report->profile->kernel_names[launcher->kernel], LABEL_WIDE);
	return advice_add_evidence(item,
				   "%s: %s launches start %s kernels: %.0f each, of %.1f blocks",
				   name, format_count(launcher->launch_count).text,
				   format_count(launcher->dispatch_count).text,
				   children / (double)launcher->launch_count,
				   (double)launcher->block_count / children);
}

static int add_cost(struct recommendation *item, const struct facts *facts)
{
	const struct ceilings *ceilings = facts->report->ceilings;
	double launch_ns = ceilings ? ceilings_at(ceilings, CEILING_child_launch, 0) : 0;

	return launch_ns > 0
		       ? advice_add_evidence(item, "on this GPU a child starts %s after its launch",
					     format_ns(launch_ns).text)
		       : 0;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct launcher *launcher = worst(facts);
	int rc = launcher ? add_parent(item, facts, launcher) : 0;

	(void)what_if;
	if (rc == 0 && has_single_blocks(facts, device))
		rc = advice_add_evidence(
			item, "%s kernels of one block that no launch of the trace explains",
			format_count(facts->report->device_work->single_block_count).text);
	return rc < 0 ? rc : add_cost(item, facts);
}

/* Samples of several devices are of one kernel together: only where there is one. */
static bool is_promising(const struct facts *facts, size_t device)
{
	return profile_only_device(facts->report->profile) == device &&
	       (double)stake_ns(facts, device) > AT_STAKE_RATIO * facts_main_ns(facts, device);
}

const struct rule rule_aggregate_children = {
	.id = "aggregate_children",
	.strategy = "aggregate_children",
	.title = "Collect what children would do, and let one kernel do all of it",
	.workload = "dp_tiny",
	.risk = "The list needs room for as many items as there can be, and a kernel behind the parent to "
		"work it off. Where items make new items, blocks take them from a queue.",
	.pattern = "if (has_more(item)) /* in place of child<<<1, 32>>>(item) */\n"
		   "    list[atomicAdd(count, 1)] = item;\n"
		   "/* behind the parent, as many blocks as fit on the GPU: */\n"
		   "for (int i = blockIdx.x; i < *count; i += gridDim.x)\n"
		   "    child_work(list[i]);",
	.is_candidate = is_promising,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
	.needs_cuda_source = true,
};
