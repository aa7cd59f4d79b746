/*
 * tensor_cores.c - matrix products in FP32 or FP64, while no tensor core works.
 *
 * Tensor cores multiply matrices many times as fast, in TF32, BF16 or FP16, and FP64 at twice the rate.  Of a library
 * that is an argument of its call; of a kernel of one's own it is other instructions, or a library.
 *
 * A library names its products by their types: where TF32 is predicted to make the run faster, this fires without counters
 * (techniques/tensor_cores.c).
 *
 * Of other kernels, fires when those at 50% of the FP32 or FP64 roof or more, which are a library's or reuse what they load through
 * shared memory, take at least half of the time of all kernels, counters say.  So it does below that where shared memory is
 * what the arithmetic waits for: hardly anything but FMA in FP32, FP64 or FP16, more of them for a byte of DRAM than where
 * both roofs meet, and the roof of shared memory explains more of the time than a prediction may be off.  What does not
 * multiply matrices gains nothing: at stake is what stands between that roof and the next one.
 */
#include "advice/rules/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/counters/counted.h"
#include "analysis/statistics/library_kernel.h"
#include "base/format.h"
#include "base/names/kernel_labels.h"

#define LEAST_SHARE 0.5
#define LEAST_SHARED 0.05

/* ---- by name ---- */

/* A library's products in FP32. */
struct named_products {
	double time_ns, all_ns; /* their time, and that of all kernels */
	const char *most;	/* the name of the one with most time; NULL: there are none */
	double most_ns;
};

/* cuDNN may use TF32 unless it is forbidden: its kernels in FP32 are a choice that was made. */
static bool is_named_product(const char *name)
{
	return library_kernel_is_fp32_product(name) &&
	       strcmp(library_kernel_of(name), "cuDNN") != 0;
}

static int find_named(void *finding, const struct facts *facts, size_t device)
{
	const struct profile *profile = facts->report->profile;
	const struct profile_device *where = &profile->devices[device];
	double *times_ns = calloc(profile->kernel_name_count + 1, sizeof(*times_ns));
	struct named_products *found = finding;

	if (!times_ns)
		return -ENOMEM;
	for (size_t i = where->first_op; i < where->first_op + where->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		if (op->kind == OP_KERNEL)
			times_ns[profile->signatures[op->detail].kernel] +=
				(double)(op->end_ns - op->start_ns);
	}
	for (size_t i = 0; i < profile->kernel_name_count; i++) {
		found->all_ns += times_ns[i];
		if (times_ns[i] <= 0 || !is_named_product(profile->kernel_names[i]))
			continue;
		found->time_ns += times_ns[i];
		if (times_ns[i] > found->most_ns) {
			found->most = profile->kernel_names[i];
			found->most_ns = times_ns[i];
		}
	}
	free(times_ns);
	return 0;
}

static const struct named_products *named_on(const struct facts *facts, size_t device)
{
	return facts_finding(facts, RULE_tensor_cores, device);
}

static bool has_named(const struct facts *facts, size_t device)
{
	return named_on(facts, device)->most;
}

static int add_named(struct recommendation *item, const struct facts *facts, size_t device)
{
	const struct named_products *found = named_on(facts, device);
	const char *name =
		kernel_label(facts->report->profile->kernel_labels, found->most, LABEL_WIDE);
	int rc = advice_add_evidence(item, "%s: %.0f%% of all kernels' time", name,
				     100 * found->most_ns / found->all_ns);

	return rc < 0 ? rc
		      : advice_add_evidence(
				item,
				"by their names, products of %s in FP32, without tensor "
				"cores, take %.0f%% of it",
				library_kernel_of(found->most),
				100 * found->time_ns / found->all_ns);
}

/* ---- by counters ---- */

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
	return has_named(facts, device) ? 0 : (int64_t)find(facts).stake_ns;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	struct roof_kernels found;
	const char *library, *name;
	int rc;

	if (what_if)
		return add_named(item, facts, device);
	found = find(facts);
	library = library_kernel_of(found.most->name);
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
	.finding_size = sizeof(struct named_products),
	.find = find_named,
	.technique = &technique_tensor_cores,
	.can_predict = has_named,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
};
