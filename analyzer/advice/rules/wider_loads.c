/*
 * wider_loads.c - kernels that do little but move bytes, and move them slower than DRAM can.
 *
 * Each SM has too few loads under way to keep DRAM busy: a thread that loads 16 bytes at once, or several values before
 * it uses the first one, has more of them (memory_bound and fuse_elementwise have both: tests/recordings).  At 80% of
 * the roof and more memory_roof says that only fewer bytes help.  So it is where a kernel spills (register_spills): some of
 * what it moves is registers, and more loads under way would take more of them.
 *
 * Fires when kernels that counters show between 50% and 80% of DRAM's roof, or from 25% on where threads ask for each byte
 * about once, with no arithmetic or shared memory to speak of, take at least half of the time of all kernels.  Whether too
 * few loads are what holds them up nothing tells, so nothing is predicted but by whatif --wider-loads; at stake is what
 * stands between them and the roof.
 */
#include "advice/rules/rules.h"

#include "base/format.h"
#include "base/names/kernel_labels.h"
#include "techniques/shared/byte_movers.h"

static double stake_of(const struct facts *facts, const struct roofline_point *point)
{
	return is_slow_byte_mover(facts->report, point) ? 1 - point->binding_share : -1;
}

static struct roof_kernels find(const struct facts *facts)
{
	return facts_find_roof_kernels(facts, stake_of);
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	(void)device;
	return (int64_t)find(facts).stake_ns;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct roof_kernels found = find(facts);
	const char *name;
	int rc;

	(void)device;
	(void)what_if;
	name = kernel_label(facts->report->profile->kernel_labels, found.most->name, LABEL_WIDE);
	rc = advice_add_evidence(item, "%s: %s a launch at %.0f%% of what DRAM can", name,
				 format_bytes(found.most->quantities[ROOF_dram].per_launch).text,
				 100 * found.most->binding_share);
	if (rc == 0)
		rc = advice_add_evidence(
			item,
			"such kernels below 80%% of that roof take %.0f%% of all kernels' time",
			100 * found.time_ns / found.all_ns);
	if (rc == 0)
		rc = advice_add_evidence(
			item, "what coming to 80%% of it would bring: whatif --wider-loads");
	return rc;
}

static bool is_promising(const struct facts *facts, size_t device)
{
	const struct roof_kernels found = find(facts);

	(void)device;
	return facts_are_most(&found);
}

const struct rule rule_wider_loads = {
	.id = "wider_loads",
	.strategy = "wider_loads",
	.title =
		"Have more bytes under way: 16 bytes a load, and several loads before the first use",
	.workload = "memory_bound",
	.risk = "16 bytes at once need addresses that are a multiple of 16, and a loop for what is left over. "
		"More loads under way need more registers.",
	.pattern = "float4 a = ((const float4 *)x)[i]; /* not x[4 * i], ... */\n"
		   "float4 b = ((const float4 *)x)[i + stride]; /* both are under way */\n"
		   "((float4 *)y)[i] = f(a);\n"
		   "((float4 *)y)[i + stride] = f(b);",
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
	.said_by = "fuse_neighbors",
};
