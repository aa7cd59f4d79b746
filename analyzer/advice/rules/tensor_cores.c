/*
 * tensor_cores.c - matrix products that are as fast as FP32 or FP64 can be, and no tensor core works.
 *
 * Tensor cores multiply matrices many times as fast, in TF32, BF16 or FP16, and FP64 at twice the rate.  Of a library
 * that is an argument of its call; of a kernel of one's own it is other instructions, or a library.
 *
 * Fires when kernels at 50% of the FP32 or FP64 roof or more, which are a library's or reuse what they load through
 * shared memory, take at least half of the time of all kernels, counters say.  What does not multiply matrices gains
 * nothing: at stake is what stands between that roof and the next one.
 */
#include "advice/rules/rules.h"

#include "analysis/statistics/library_kernel.h"
#include "base/format.h"

#define LEAST_SHARE 0.5
#define LEAST_SHARED 0.05

static bool is_product(const struct facts *facts, const struct roofline_point *point)
{
	return (point->binding == ROOF_fp32 || point->binding == ROOF_fp64) &&
	       point->binding_share >= LEAST_SHARE && !point->is_wrong &&
	       point->tensor_share <= 0 && !point->has_uncounted_tensor &&
	       (facts_is_library(facts, point->subject) ||
		point->quantities[ROOF_shared].share >= LEAST_SHARED);
}

/* The largest share of a memory's roof: that much is left with any arithmetic. */
static double next_share(const struct roofline_point *point)
{
	double share = 0;

	for (int i = 0; i < ROOF_MEMORY_END; i++)
		if (point->quantities[i].share > share)
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
	char name[64];
	int rc;

	(void)device;
	(void)what_if;
	format_kernel_name(name, sizeof(name), found.most->name, sizeof(name) - 1);
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
	return facts_are_most(facts, &found);
}

const struct rule rule_tensor_cores = {
	.id = "tensor_cores",
	.strategy = "tensor_cores",
	.title = "Multiply matrices on tensor cores",
	.workload = "compute_bound",
	.risk = "TF32 keeps 10 bits of a number's fraction in place of 23, BF16 7: compare the results. Only "
		"sums of products gain.",
	.pattern = "cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH); /* FP32 in and out */\n"
		   "torch.set_float32_matmul_precision(\"high\") # the same in PyTorch\n"
		   "/* in a kernel of one's own: nvcuda::wmma, CUTLASS, or a call of cuBLAS */",
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
};
