/*
 * tensor_cores.c - matrix products that are as fast as FP32 or FP64 can be, and no tensor core works.
 *
 * Tensor cores multiply matrices many times as fast, in TF32, BF16 or FP16, and FP64 at twice the rate.  Of a library
 * that is an argument of its call; of a kernel of one's own it is other instructions, or a library.
 *
 * Fires when kernels at 50% of the FP32 or FP64 roof or more, which are a library's or reuse what they load through
 * shared memory, take at least half of the time of all kernels, counters say.  So it does below that where shared memory is
 * what the arithmetic waits for: hardly anything but FMA in FP32, FP64 or FP16, more of them for a byte of DRAM than where
 * both roofs meet, and the roof of shared memory explains more of the time than a prediction may be off.  What does not
 * multiply matrices gains nothing: at stake is what stands between that roof and the next one.
 */
#include "advice/rules/rules.h"

#include "analysis/counters/counted.h"
#include "analysis/statistics/library_kernel.h"
#include "base/format.h"
#include "base/names/kernel_labels.h"

#define LEAST_SHARE 0.5
#define LEAST_SHARED 0.05

/* At the roof of its arithmetic. */
static bool is_fast_product(const struct facts *facts, const struct roofline_point *point)
{
	return (point->binding == ROOF_fp32 || point->binding == ROOF_fp64) &&
	       point->binding_share >= LEAST_SHARE &&
	       (facts_is_library(facts, point->subject) ||
		point->quantities[ROOF_shared].share >= LEAST_SHARED);
}

#define LEAST_FMA 0.9 /* of the operations: what is left are the sums of tiles, and addresses */

/* Precisions with their additions, products and FMA; the roof that they are under. */
static const struct {
	enum roofline_roof roof;
	enum metric_role add, mul, fma;
} precisions[] = {
	{ROOF_fp64, METRIC_fp64_add, METRIC_fp64_mul, METRIC_fp64_fma},
	{ROOF_fp32, METRIC_fp32_add, METRIC_fp32_mul, METRIC_fp32_fma},
	{ROOF_fp16, METRIC_fp16_add, METRIC_fp16_mul, METRIC_fp16_fma},
};

/* Sums of products, in the precision of that row, and more of them than DRAM could hold up. */
static bool has_sums(const struct facts *facts, const struct roofline_point *point, size_t row)
{
	const struct roofline *roofline = facts->report->roofline;
	const struct counted_role *roles = facts->report->counted->kernels[point->subject].roles;
	double fma = 2 * roles[precisions[row].fma].total;
	double all = fma + roles[precisions[row].add].total + roles[precisions[row].mul].total;
	double dram_s = point->quantities[ROOF_dram].total / roofline->roofs[ROOF_dram];
	double flop_s = point->quantities[precisions[row].roof].total /
			roofline->roofs[precisions[row].roof];

	return fma > 0 && fma >= LEAST_FMA * all && flop_s >= dram_s;
}

/* Shared memory hands on each value of a tile as often as it is used. */
static bool is_slow_product(const struct facts *facts, const struct roofline_point *point)
{
	if (!facts->report->counted || point->binding != ROOF_shared ||
	    point->binding_share < LEAST_ESTIMATED_RATIO ||
	    point->quantities[ROOF_dram].state != ROOFLINE_KNOWN)
		return false;
	for (size_t i = 0; i < sizeof(precisions) / sizeof(precisions[0]); i++)
		if (point->quantities[precisions[i].roof].state == ROOFLINE_KNOWN &&
		    has_sums(facts, point, i))
			return true;
	return false;
}

static bool is_product(const struct facts *facts, const struct roofline_point *point)
{
	return !point->is_wrong && point->tensor_share <= 0 && !point->has_uncounted_tensor &&
	       (is_fast_product(facts, point) || is_slow_product(facts, point));
}

/* The largest share of another memory's roof: that much is left with any arithmetic. */
static double next_share(const struct roofline_point *point)
{
	double share = 0;

	for (int i = 0; i < ROOF_MEMORY_END; i++)
		if (i != (int)point->binding && point->quantities[i].share > share)
			share = point->quantities[i].share;
	return share < 1 ? share : 1;
}

static double stake_of(const struct facts *facts, const struct roofline_point *point)
{
	return is_product(facts, point) ? 1 - next_share(point) : -1;
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
	const char *library = library_kernel_of(found.most->name);
	const char *name;
	int rc;

	(void)device;
	(void)what_if;
	name = kernel_label(facts->report->profile->kernel_labels, found.most->name, LABEL_WIDE);
	rc = advice_add_evidence(item, "%s: %.0f%% of what %s can, and no tensor core works", name,
				 100 * found.most->binding_share,
				 roofline_roof_title(found.most->binding));
	if (rc == 0 && library)
		rc = advice_add_evidence(
			item, "%s chose this kernel by the types that it was called with", library);
	return rc;
}

static bool is_promising(const struct facts *facts, size_t device)
{
	const struct roof_kernels found = find(facts);

	(void)device;
	return facts_are_most(&found);
}

const struct rule rule_tensor_cores = {
	.id = "tensor_cores",
	.strategy = "tensor_cores",
	.title = "Multiply matrices on tensor cores",
	.workload = "compute_bound",
	.risk = "TF32 keeps 10 bits of a number's fraction in place of 23, BF16 7: compare the results. Only "
		"sums of products gain.",
	.pattern = "cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH); /* FP32 */\n"
		   "/* in a kernel of one's own: nvcuda::wmma, CUTLASS */",
	.in[FRAMEWORK_pytorch] =
		{
			.title =
				"Multiply matrices on tensor cores: torch.set_float32_matmul_precision(\"high\"), autocast",
			.pattern = "torch.set_float32_matmul_precision(\"high\") # TF32\n"
				   "with torch.autocast(\"cuda\", dtype=torch.bfloat16):\n"
				   "    output = model(x)",
		},
	.in[FRAMEWORK_jax] =
		{
			.title = "Multiply matrices on tensor cores: TF32 or bfloat16",
			.pattern =
				"jax.config.update(\"jax_default_matmul_precision\", \"tensorfloat32\")\n"
				"x = x.astype(jnp.bfloat16) # or arrays of 16 bits",
		},
	.in[FRAMEWORK_cupy] =
		{
			.title = "Multiply matrices on tensor cores: TF32 or float16",
			.pattern = "# the environment: CUPY_TF32=1",
		},
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
};
