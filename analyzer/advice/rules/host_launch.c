/*
 * host_launch.c - a kernel launches the same children each time: the host could launch them behind it without waiting.
 *
 * A launch from the device takes it several microseconds, and what follows waits for the last child; kernels that the host
 * has queued in one stream follow one another after one (docs/workloads/dynamic_parallelism.md).  Only where the number or
 * the size of the children follows from data must the device launch them.  Found in samples, as the trace has no children.
 * Fires for parents of which nine of ten are followed by as many bursts of work, and blocks of it, as the one before, up to
 * MOST_BURSTS, when what the GPU does beside that, without gaps as the host's launches have, is more than 10% of wall time.
 * Part of it is the parents' own work, which no sample tells from launching, so nothing is predicted.
 */
#include "advice/rules/rules.h"

#include <math.h>

#include "base/format.h"
#include "base/names/kernel_labels.h"

#define AT_STAKE_RATIO 0.10
#define LEAST_COUNT 20
#define LEAST_ALIKE 0.9
#define BLOCKS_OFF 0.01 /* as large a part: what the GPU runs to launch children counts as well */
#define MOST_BURSTS 8

/* What followed a launch of a parent, until the next operation. */
struct children {
	uint64_t burst_count, block_count;
	double busy_ns;
};

struct parents {
	uint32_t kernel;
	uint64_t count, alike_count;
	struct children last;
	double beside_ns; /* from start to start of what is next, without the bursts and the gaps that the host's have */
};

static bool is_alike(const struct children *left, const struct children *right)
{
	return left->burst_count == right->burst_count &&
	       fabs((double)left->block_count - (double)right->block_count) <=
		       BLOCKS_OFF * (double)right->block_count;
}

/* The bursts from first on that belong to the same operation and began when it had ended.  Returns the next one. */
static size_t take_children(struct children *found, const struct device_work *work, size_t first)
{
	size_t i = first;

	*found = (struct children){0};
	for (; i < work->burst_count && work->bursts[i].op == work->bursts[first].op; i++) {
		const struct burst *burst = &work->bursts[i];

		found->burst_count += !burst->is_inside;
		found->block_count += burst->block_count;
		found->busy_ns += (double)(burst->end_ns - burst->start_ns);
	}
	return i;
}

static void add_launch(struct parents *found, const struct profile *profile, uint32_t op,
		       const struct children *children, double gap_ns)
{
	const struct profile_op *parent = &profile->ops[op];
	uint32_t kernel = profile->signatures[parent->detail].kernel;

	if (!found->count)
		found->kernel = kernel;
	if (kernel != found->kernel)
		return;
	found->alike_count += found->count && is_alike(children, &found->last);
	found->count++;
	found->last = *children;
	found->beside_ns += (double)(parent[1].start_ns - parent->start_ns) - children->busy_ns -
			    (double)(children->burst_count + 1) * gap_ns;
}

static bool has_next(const struct profile *profile, uint32_t op)
{
	const struct profile_device *device =
		&profile->devices[profile_op_device(profile, &profile->ops[op])];

	return profile->ops[op].kind == OP_KERNEL && op + 1 < device->first_op + device->op_count;
}

/* Of the kernel that is followed by such work first. */
static int find(void *finding, const struct facts *facts, size_t device)
{
	const struct device_work *work = facts->report->device_work;
	const struct profile *profile = facts->report->profile;
	double gap_ns = facts->report->ceilings
				? ceilings_at(facts->report->ceilings, CEILING_kernel_gap, 0)
				: 0;

	for (size_t i = 0; gap_ns > 0 && i < work->burst_count;) {
		uint32_t op = work->bursts[i].op;
		struct children children;
		size_t first = i;

		i = take_children(&children, work, first);
		if (work->bursts[first].device == device && op != PROFILE_NONE &&
		    children.burst_count && children.burst_count <= MOST_BURSTS &&
		    has_next(profile, op))
			add_launch(finding, profile, op, &children, gap_ns);
	}
	return 0;
}

static const struct parents *found_on(const struct facts *facts, size_t device)
{
	return facts_finding(facts, RULE_host_launch, device);
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	return (int64_t)fmax(found_on(facts, device)->beside_ns, 0);
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct parents *found = found_on(facts, device);
	double count = (double)found->count;
	const char *name;
	int rc;

	(void)what_if;
	name = kernel_label(facts->report->profile->kernel_labels,
			    facts->report->profile->kernel_names[found->kernel], LABEL_WIDE);
	rc = advice_add_evidence(item,
				 "%s: behind %.0f%% of %s launches samples show the same work as "
				 "behind the one before, %s blocks",
				 name, 100 * (double)found->alike_count / (count - 1),
				 format_count(found->count).text,
				 format_count(found->last.block_count).text);
	return rc < 0 ? rc
		      : advice_add_evidence(
				item,
				"each takes %s beside that work and the gaps between kernels of a stream",
				format_ns(found->beside_ns / count).text);
}

static bool is_promising(const struct facts *facts, size_t device)
{
	const struct parents *found = found_on(facts, device);

	return profile_only_device(facts->report->profile) == device &&
	       found->count >= LEAST_COUNT &&
	       (double)found->alike_count >= LEAST_ALIKE * (double)(found->count - 1) &&
	       (double)stake_ns(facts, device) > AT_STAKE_RATIO * facts_wall_ns(facts, device);
}

const struct rule rule_host_launch = {
	.id = "host_launch",
	.strategy = "host_launch",
	.title = "Launch what is the same each time from the host, behind its parent in the stream",
	.workload = "dynamic_parallelism",
	.risk = "Only where neither the number nor the grid of the children follows from what the parent found. "
		"Where it does now and then, launch them always, and let them return at once.",
	.pattern = "parent<<<grid, block, 0, stream>>>(...); /* launches nothing */\n"
		   "first<<<grid, block, 0, stream>>>(...); /* the stream keeps order: */\n"
		   "second<<<grid, block, 0, stream>>>(...); /* no wait in between */\n"
		   "/* an iteration of these can be a graph */",
	.finding_size = sizeof(struct parents),
	.find = find,
	.is_candidate = is_promising,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
	.needs_cuda_source = true,
};
