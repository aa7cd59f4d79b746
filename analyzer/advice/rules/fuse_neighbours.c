/*
 * fuse_neighbours.c - a kernel writes an array for the next one to read, and DRAM sets the pace.
 *
 * In one kernel what is handed on stays in registers: it is neither written nor read.  Counters
 * tell how many bytes that can be, not whose they are; techniques/fusion.h says what is supposed and
 * what tells against it.
 *
 * Fires when bytes that vanish between neighbours would save more than 10% of wall time.
 */
#include "advice/rules/rules.h"

#include "base/format.h"

#define AT_STAKE_RATIO 0.10

/* Neighbours of all loops. */
static struct fused find(const struct facts *facts)
{
	const struct what_ifs *all = &facts->what_ifs;
	struct fused fused = {0};

	for (size_t i = 0; all->fusion.kernels && i < all->loops.count; i++)
		change_to_fused(NULL, all->model, &all->loops.items[i], &all->fusion, &fused);
	return fused;
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	(void)device;
	return (int64_t)find(facts).saved_ns;
}

static int say_pair(struct recommendation *item, const struct facts *facts,
		    const struct fused *fused)
{
	const struct profile_signature *signatures = facts->report->profile->signatures;
	const struct fusion_kernel *kernels = facts->what_ifs.fusion.kernels;
	char first[64], second[64];

	format_kernel_name(first, sizeof(first), signatures[fused->first].name, sizeof(first) - 1);
	format_kernel_name(second, sizeof(second), signatures[fused->second].name,
			   sizeof(second) - 1);
	return advice_say(item, "%s writes %s a launch, and %s right after it reads %s", first,
			  format_bytes(kernels[fused->first].stored_bytes).text, second,
			  format_bytes(kernels[fused->second].read_bytes).text);
}

static int say(struct recommendation *item, const struct facts *facts, size_t device,
	       const struct what_if *what_if)
{
	const struct fused fused = find(facts);
	double all_bytes = facts->report->roofline->application.quantities[ROOF_dram].total;
	int rc = say_pair(item, facts, &fused);

	(void)device;
	if (rc == 0)
		rc = advice_say(item,
				"%s launches go on with what the one before them wrote: %s vanish, "
				"%.0f%% of what all kernels move through DRAM",
				format_count(fused.handed_count).text,
				format_bytes(fused.vanished_bytes).text,
				100 * fused.vanished_bytes / all_bytes);
	if (rc == 0 && what_if)
		rc = advice_say(item,
				"supposed: what a kernel reads is what the one before it wrote, "
				"and nobody else reads it; at the low end it is still written");
	return rc;
}

static bool is_promising(const struct facts *facts, size_t device)
{
	return find(facts).saved_ns > AT_STAKE_RATIO * facts_wall_ns(facts, device);
}

const struct rule rule_fuse_neighbours = {
	.id = "fuse_neighbours",
	.title = "Make one kernel of neighbours that hand each other arrays",
	.workload = "fuse_elementwise",
	.risk = "Only where each thread reads what it wrote itself: counters cannot tell whose "
		"bytes are read. What somebody else needs is still written. One kernel needs more "
		"registers, and may run fewer warps or spill.",
	.pattern = "t[i] = f(x[i]); /* a kernel, and after it another one: */\n"
		   "z[i] = g(t[i]);\n"
		   "z[i] = g(f(x[i])); /* one, and t is gone */",
	.is_predicted = true,
	.predicted = STRATEGY_FUSE,
	.is_candidate = is_promising,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.say = say,
	.is_about_kernels = true,
};
