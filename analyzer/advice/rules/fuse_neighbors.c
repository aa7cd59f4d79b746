/*
 * fuse_neighbors.c - a kernel writes an array for the next one to read, and DRAM sets the pace.
 *
 * In one kernel what is handed on stays in registers: it is neither written nor read.  Counters
 * tell how many bytes that can be, not whose they are; techniques/shared/fusion.h says what is assumed and
 * what tells against it.
 *
 * Fires when bytes that vanish between neighbors would save more than 10% of wall time.
 */
#include "advice/rules/rules.h"

#include "analysis/statistics/library_kernel.h"
#include "base/format.h"
#include "techniques/fuse.h"

#define AT_STAKE_RATIO 0.10

static struct fused_kernels find(const struct facts *facts)
{
	return fuse_find(&facts->what_ifs.run, &facts->what_ifs.loops);
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	(void)device;
	return (int64_t)find(facts).saved_ns;
}

static int add_pair(struct recommendation *item, const struct facts *facts,
		    const struct fused_kernels *fused)
{
	const struct profile_signature *signatures = facts->report->profile->signatures;
	const struct fusion_kernel *kernels = facts->what_ifs.run.fusion.kernels;
	char first[64], second[64];

	format_kernel_name(first, sizeof(first), signatures[fused->first].name, sizeof(first) - 1);
	format_kernel_name(second, sizeof(second), signatures[fused->second].name,
			   sizeof(second) - 1);
	return advice_add_evidence(item, "%s writes %s a launch, and %s right after it reads %s",
				   first, format_bytes(kernels[fused->first].stored_bytes).text,
				   second, format_bytes(kernels[fused->second].read_bytes).text);
}

static int add_compiler(struct recommendation *item, const char *name)
{
	return library_kernel_is_elementwise(name)
		       ? advice_add_evidence(item,
					     "PyTorch chose these kernels: torch.compile, or a "
					     "call that does all of it, makes one of them")
		       : 0;
}

static int add_epilogue(struct recommendation *item, const struct facts *facts,
			const struct fused_kernels *fused)
{
	return fusion_is_epilogue(&facts->what_ifs.run.fusion, facts->report->profile, fused->first,
				  fused->second)
		       ? advice_add_evidence(
				 item,
				 "the first is a product on tensor cores: what follows can be done "
				 "to its sums before they are stored, in its epilogue; cuBLASLt and "
				 "cuDNN have the usual ones")
		       : 0;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct fused_kernels fused = find(facts);
	double all_bytes = facts->report->roofline->application.quantities[ROOF_dram].total;
	int rc = add_pair(item, facts, &fused);

	(void)device;
	(void)what_if;
	if (rc == 0)
		rc = advice_add_evidence(
			item,
			"%s launches go on with what the one before them wrote: %s vanish, "
			"%.0f%% of what all kernels move through DRAM",
			format_count(fused.handed_count).text,
			format_bytes(fused.vanished_bytes).text,
			100 * fused.vanished_bytes / all_bytes);
	if (rc == 0)
		rc = add_epilogue(item, facts, &fused);
	return rc < 0 ? rc
		      : add_compiler(item, facts->report->profile->signatures[fused.first].name);
}

static bool is_promising(const struct facts *facts, size_t device)
{
	return find(facts).saved_ns > AT_STAKE_RATIO * facts_main_ns(facts, device);
}

const struct rule rule_fuse_neighbors = {
	.id = "fuse_neighbors",
	.title = "Make one kernel of neighbors that hand each other arrays",
	.workload = "fuse_elementwise",
	.risk = "Only where each thread reads what it wrote itself: counters cannot tell whose "
		"bytes are read. What somebody else needs is still written. One kernel needs more "
		"registers, and may run fewer warps or spill.",
	.pattern = "t[i] = f(x[i]); /* a kernel, and after it another one: */\n"
		   "z[i] = g(t[i]);\n"
		   "z[i] = g(f(x[i])); /* one, and t is gone */\n"
		   "fast = torch.compile(model) # in PyTorch",
	.technique = &technique_fuse,
	.is_candidate = is_promising,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
};
