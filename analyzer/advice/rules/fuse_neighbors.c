/*
 * fuse_neighbors.c - a kernel writes an array for the next one to read, and DRAM sets the pace.
 *
 * In one kernel what is handed on stays in registers: it is neither written nor read.  Counters
 * tell how many bytes that can be, not whose they are; techniques/shared/fusion.h says what is assumed and
 * what tells against it.  Without counters, names and grids show the elementwise kernels of PyTorch and CuPy that
 * follow one another over as many elements (techniques/fuse.c).
 *
 * Fires when what vanishes between neighbors would save more than 10% of wall time.
 */
#include "advice/rules/rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/statistics/library_kernel.h"
#include "base/format.h"
#include "base/names/kernel_labels.h"
#include "techniques/fuse.h"

#define AT_STAKE_RATIO 0.10
#define FEW_BYTES 0.5 /* of those asked for at once: as few warps as low_occupancy names */

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
	const char *first, *second;

	first = kernel_label(facts->report->profile->kernel_labels, signatures[fused->first].name,
			     LABEL_WIDE);
	second = kernel_label(facts->report->profile->kernel_labels, signatures[fused->second].name,
			      LABEL_WIDE);
	return advice_add_evidence(item, "%s writes %s a launch, and %s right after it reads %s",
				   first, format_bytes(kernels[fused->first].stored_bytes).text,
				   second, format_bytes(kernels[fused->second].read_bytes).text);
}

/* "24", or "24 to 56" where they differ. */
static void put_range(char *text, size_t size, const char *least, const char *most)
{
	if (strcmp(least, most))
		snprintf(text, size, "%s to %s", least, most);
	else
		snprintf(text, size, "%s", most);
}

static int add_shape_range(struct recommendation *item, const struct fused_shape *shape,
			   size_t count)
{
	char registers[96], shared[96], memory[160] = "", warps[96];

	put_range(registers, sizeof(registers), format_count(shape->registers_least).text,
		  format_count(shape->registers_most).text);
	put_range(shared, sizeof(shared), format_bytes((double)shape->shared_least).text,
		  format_bytes((double)shape->shared_most).text);
	put_range(warps, sizeof(warps), format_percent(shape->warps_most, 1).text,
		  format_percent(shape->warps_least, 1).text);
	if (shape->shared_most)
		snprintf(memory, sizeof(memory), " and %s of shared memory a block", shared);
	return advice_add_evidence(
		item,
		"as one kernel these %zu need about %s registers a thread%s: %s of "
		"the warps that an SM can hold, now %s",
		count, registers, memory, warps, format_percent(shape->warps_now, 1).text);
}

/* Bytes that a thread of a launch reads from DRAM. */
static double read_by_thread(const struct facts *facts, uint32_t signature)
{
	const struct profile_signature *launch = &facts->report->profile->signatures[signature];
	double threads = 1;

	for (int i = 0; i < 3; i++)
		threads *= (double)launch->grid[i] * launch->block[i];
	return threads > 0 ? facts->what_ifs.run.fusion.kernels[signature].read_bytes / threads : 0;
}

/* What sets the pace is how many bytes are asked for at once (Little's law): at most all that the threads on an SM read. */
static bool asks_for_less(const struct facts *facts, const struct fused_kernels *fused,
			  const struct fused_shape *shape)
{
	const struct fusion_kernel *kernels = facts->what_ifs.run.fusion.kernels;
	double read = read_by_thread(facts, fused->chain[0]), least = read;

	for (size_t i = 1; i < fused->chain_count; i++) {
		const struct fusion_kernel *before = &kernels[fused->chain[i - 1]];
		const struct fusion_kernel *kernel = &kernels[fused->chain[i]];
		double own = read_by_thread(facts, fused->chain[i]);

		least = fmin(least, own);
		if (kernel->read_bytes > 0)
			read += own *
				(1 -
				 fmin(fusion_handed_bytes(before, kernel) / kernel->read_bytes, 1));
	}
	read = fmax(read, fused->chain_values > 1 ? fused->chain_values * sizeof(float) : 0);
	return shape->warps_least * read < FEW_BYTES * shape->warps_now * least;
}

/* Where it stops to pay. */
static int add_limit(struct recommendation *item, const struct facts *facts,
		     const struct fused_kernels *fused, const struct fused_shape *shape)
{
	if (shape->may_spill)
		return advice_add_evidence(
			item,
			"warning: at most that is more than the %d registers of a thread: what is over "
			"spills to local memory, and fusing stops paying",
			FUSED_REGISTERS_MOST);
	if (shape->warps_least <= 0)
		return advice_add_evidence(item, "warning: at most that does not fit on an SM: "
						 "hand on through registers, or fuse fewer");
	if (asks_for_less(facts, fused, shape))
		return advice_add_evidence(
			item, "warning: at most so few warps ask for fewer bytes at once than "
			      "now, and DRAM waits for them: fuse fewer, or load more in each "
			      "thread");
	return 0;
}

/* Where it would spill. */
static int add_apart(struct recommendation *item, const struct facts *facts,
		     const struct fused_kernels *fused)
{
	const struct profile *profile = facts->report->profile;

	if (fused->apart_values <= 0)
		return 0;
	return advice_add_evidence(
		item,
		"%s is left apart: where it needs values that other threads of the kernels before it "
		"made, a thread holds %s values at once, more than its %d registers: they spill, and "
		"fusing stops paying; at the high end it does not",
		kernel_label(profile->kernel_labels, profile->signatures[fused->apart].name,
			     LABEL_WIDE),
		format_count((uint64_t)fused->apart_values).text, FUSED_REGISTERS_MOST);
}

/* Of the machine code of each.  A library's is made by another call, with what that needs. */
static int add_shape(struct recommendation *item, const struct facts *facts, size_t device,
		     const struct fused_kernels *fused)
{
	const struct profile *profile = facts->report->profile;
	struct fused_shape shape;
	int rc;

	if (fused->chain_count < 2 ||
	    facts_is_library(facts, profile->signatures[fused->chain[0]].kernel) ||
	    !fused_shape_of(&shape, profile, &profile->devices[device], fused->chain,
			    fused->chain_count, fused->chain_values))
		return 0;
	rc = add_shape_range(item, &shape, fused->chain_count);
	if (rc == 0)
		rc = advice_add_evidence(
			item,
			"assumes: at least what one of them has, as where a value "
			"is used once it is made; at most what all have together%s",
			fused->chain_values > 1 ? ", or all values, where a thread needs those "
						  "that others made"
						: "");
	if (rc == 0)
		rc = add_apart(item, facts, fused);
	return rc < 0 ? rc : add_limit(item, facts, fused, &shape);
}

static int add_compiler(struct recommendation *item, const struct facts *facts, const char *name)
{
	if (!library_kernel_is_elementwise(name))
		return 0;
	if (facts->framework == FRAMEWORK_cupy)
		return advice_add_evidence(item, "CuPy launches a kernel for each operation: "
						 "cupy.fuse or an ElementwiseKernel makes one of "
						 "them");
	return advice_add_evidence(item, "PyTorch chose these kernels: torch.compile, or a "
					 "call that does all of it, makes one of them");
}

/* Describe the row that saves most, by names, grids and times: there are no counters. */
static int add_row(struct recommendation *item, const struct facts *facts,
		   const struct fused_kernels *fused)
{
	const struct profile *profile = facts->report->profile;
	const struct fused_row *row = &fused->row;
	const char *first = profile->signatures[row->first].name;
	int rc = advice_add_evidence(
		item,
		"%s and %s kernels right behind it each go through as many elements: %s together, "
		"the longest takes %s",
		kernel_label(profile->kernel_labels, first, LABEL_WIDE),
		format_count(row->count - 1).text, format_ns(row->all_ns).text,
		format_ns(row->longest_ns).text);

	if (rc == 0)
		rc = advice_add_evidence(
			item,
			"one kernel in their place takes as long as the longest at best, and %s if "
			"each hands on one array, as the shortest, of %s, reads and writes one",
			format_ns(row->all_ns - row->saved_ns).text,
			format_ns(row->shortest_ns).text);
	return rc < 0 ? rc : add_compiler(item, facts, first);
}

/* A library's kernel is never written otherwise: its caller asks for what follows. */
static void tell_call(struct recommendation *item)
{
	if (item->pattern != rule_fuse_neighbors.pattern)
		return; /* as a framework has it */
	item->pattern = "epilogue = CUBLASLT_EPILOGUE_GELU_BIAS; /* or RELU, BIAS, ... */\n"
			"cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE,\n"
			"                               &epilogue, sizeof(epilogue));\n"
			"cublasLtMatmul(handle, product, ...); /* and no kernel after it */";
	item->risk =
		"The library has a few epilogues; any other needs a product whose epilogue can be "
		"written, as with CUTLASS. What somebody else reads of the sums is still written.";
}

static int add_epilogue(struct recommendation *item, const struct facts *facts,
			const struct fused_kernels *fused)
{
	const struct profile *profile = facts->report->profile;

	if (!fusion_is_epilogue(&facts->what_ifs.run.fusion, profile, fused->first, fused->second))
		return 0;
	if (facts_is_library(facts, profile->signatures[fused->first].kernel))
		tell_call(item);
	return advice_add_evidence(
		item, "the first is a product on tensor cores: what follows can be done "
		      "to its sums before they are stored, in its epilogue; cuBLASLt and "
		      "cuDNN have the usual ones");
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct fused_kernels fused = find(facts);
	double all_bytes;
	int rc;

	(void)what_if;
	if (fused.row.count)
		return add_row(item, facts, &fused);
	all_bytes = facts->report->roofline->application.quantities[ROOF_dram].total;
	rc = add_pair(item, facts, &fused);
	if (rc == 0)
		rc = advice_add_evidence(
			item,
			"%s launches go on with what the one before them wrote: %s vanish, "
			"%.0f%% of what all kernels move through DRAM",
			format_count(fused.handed_count).text,
			format_bytes(fused.vanished_bytes).text,
			100 * fused.vanished_bytes / all_bytes);
	if (rc == 0)
		rc = add_shape(item, facts, device, &fused);
	if (rc == 0)
		rc = add_epilogue(item, facts, &fused);
	return rc < 0 ? rc
		      : add_compiler(item, facts,
				     facts->report->profile->signatures[fused.first].name);
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
		   "z[i] = g(f(x[i])); /* one, and t is gone */",
	.in[FRAMEWORK_pytorch] =
		{
			.title =
				"Fuse neighbors that pass data through memory: torch.compile(model)",
			.pattern =
				"fast = torch.compile(model) # elementwise kernels become one\n"
				"F.scaled_dot_product_attention(q, k, v) # in place of its parts\n"
				"torch.optim.AdamW(parameters, fused=True)",
		},
	.in[FRAMEWORK_jax] =
		{
			.title = "Let XLA fuse them: one jax.jit around all of them",
			.pattern =
				"step = jax.jit(step) # the whole function: XLA fuses inside one jit",
		},
	.in[FRAMEWORK_cupy] =
		{
			.title =
				"Fuse elementwise operations: @cupy.fuse(), or an ElementwiseKernel",
			.pattern =
				"@cupy.fuse()\n"
				"def update(x, y, a): # one kernel in place of one for each operation\n"
				"    return cupy.exp(x * a) + y",
			.risk = "cupy.fuse takes elementwise operations and one reduction at the end.",
		},
	.technique = &technique_fuse,
	.is_candidate = is_promising,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
};
