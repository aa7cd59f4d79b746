#include "analysis/counters/roofline_quantities.h"

/* What a roof's quantity is made of; for the weights see roofline/metrics.h. */
static const struct part {
	enum roofline_roof roof;
	enum metric_role role;
	double weight;
} parts[] = {
	{ROOF_dram, METRIC_dram_read_bytes, 1},
	{ROOF_dram, METRIC_dram_write_bytes, 1},
	{ROOF_l2, METRIC_l2_bytes, 1},
	{ROOF_l1, METRIC_l1_bytes, 1},
	{ROOF_shared, METRIC_shared_bytes, 1},
	{ROOF_fp64, METRIC_fp64_add, 1},
	{ROOF_fp64, METRIC_fp64_mul, 1},
	{ROOF_fp64, METRIC_fp64_fma, 2},
	{ROOF_fp32, METRIC_fp32_add, 1},
	{ROOF_fp32, METRIC_fp32_mul, 1},
	{ROOF_fp32, METRIC_fp32_fma, 2},
	{ROOF_fp16, METRIC_fp16_add, 2},
	{ROOF_fp16, METRIC_fp16_mul, 2},
	{ROOF_fp16, METRIC_fp16_fma, 4},
	{ROOF_tensor_fp64, METRIC_tensor_fp64_ops, 1},
	{ROOF_tensor_tf32, METRIC_tensor_tf32_ops, 1},
	{ROOF_tensor_bf16, METRIC_tensor_bf16_ops, 1},
	{ROOF_tensor_fp16, METRIC_tensor_fp16_ops, 1},
	{ROOF_tensor_fp8, METRIC_tensor_fp8_ops, 1},
	{ROOF_tensor_int8, METRIC_tensor_int8_ops, 1},
	{ROOF_atomic_unit, METRIC_atomic_unit_cycles_max, 1},
};

#define PART_COUNT (sizeof(parts) / sizeof(parts[0]))

/* ---- what is known ---- */

static void find_absent(struct roofline_quantities *known, const struct profile *profile)
{
	for (size_t i = 0; i < profile->metric_count; i++) {
		const struct profile_metric *metric = &profile->metrics[i];

		if (metric->role >= METRIC_ROLE_COUNT)
			continue;
		if (*metric->name)
			known->absent[metric->role] = ROOFLINE_NOT_SAMPLED;
		else if (known->absent[metric->role] == ROOFLINE_NOT_ASKED)
			known->absent[metric->role] = ROOFLINE_NOT_ON_CHIP;
	}
}

/* HFMA2.MMA, with which ptxas also sets constants, runs in the tensor cores and counts as theirs; it is
 * one of the FP16 instructions, of 32 threads.  For a kernel whose FP16 instructions were not counted
 * the answer is no. */
bool roofline_has_tensor_work(const struct counted_work *work)
{
	double fp16 = work->roles[METRIC_fp16_add].total + work->roles[METRIC_fp16_mul].total +
		      work->roles[METRIC_fp16_fma].total;

	return work->roles[METRIC_fp16_fma].sample_count &&
	       work->roles[METRIC_tensor_instructions].total > 1.1 * fp16 / 32;
}

static void find_tensor_work(struct roofline_quantities *known, const struct profile *profile,
			     const struct counted *counted)
{
	for (size_t i = 0; i < profile->kernel_name_count; i++) {
		const struct counted_work *work = &counted->kernels[i];

		known->has_tensor_count |= work->roles[METRIC_tensor_instructions].sample_count > 0;
		known->has_tensor_work |= roofline_has_tensor_work(work);
	}
}

void roofline_quantities_open(struct roofline_quantities *known, const struct profile *profile,
			      const struct counted *counted)
{
	*known = (struct roofline_quantities){0};
	find_absent(known, profile);
	find_tensor_work(known, profile, counted);
}

/* ---- one point ---- */

static void count_samples(struct roofline_point *point, const struct counted_role *role)
{
	bool is_first = point->most_sample_count == 0;

	if (is_first || role->sample_count < point->least_sample_count)
		point->least_sample_count = role->sample_count;
	if (role->sample_count > point->most_sample_count)
		point->most_sample_count = role->sample_count;
	if (is_first || role->covered_share < point->covered_share)
		point->covered_share = role->covered_share;
}

/* Operations by type are counted only when there are some. */
static bool is_known_without(const struct roofline_quantities *known, enum metric_role role)
{
	return role >= METRIC_tensor_fp64_ops && role <= METRIC_tensor_int8_ops &&
	       known->absent[role] == ROOFLINE_NOT_ASKED && known->has_tensor_count &&
	       !known->has_tensor_work;
}

/* Why a role has no samples.  Operations by type count as requested when tensor instructions were, also where
 * the collector had no pass left for them. */
static enum roofline_state absence(const struct roofline_quantities *known, enum metric_role role)
{
	enum roofline_state state = known->absent[role];

	if (state == ROOFLINE_NOT_ASKED && role >= METRIC_tensor_fp64_ops &&
	    role <= METRIC_tensor_int8_ops &&
	    known->absent[METRIC_tensor_instructions] == ROOFLINE_NOT_SAMPLED)
		return ROOFLINE_NOT_SAMPLED;
	return state;
}

/* Of half precision what computes. */
static const struct counted_role *counted_as(const struct counted_work *work, enum metric_role role)
{
	if (role >= METRIC_fp16_add && role < METRIC_fp16_add + HALF_COUNT)
		return &work->half[role - METRIC_fp16_add];
	return &work->roles[role];
}

/* Without its machine code nobody knows what of a kernel's half precision is none. */
static void judge_half(struct roofline_point *point, const struct counted_work *work)
{
	struct roofline_quantity *half = &point->quantities[ROOF_fp16];

	if (half->state != ROOFLINE_KNOWN)
		return;
	if (work->has_untrusted_half)
		half->state = ROOFLINE_NOT_TRUSTED;
	if (work->has_untrusted_half || work->has_mixed_half)
		half->at_most = half->total;
}

/* A quantity is known when all its parts are; otherwise it has the reason of the first in the list
 * of states. */
static void add_quantities(const struct roofline_quantities *known, struct roofline_point *point,
			   const struct counted_work *work)
{
	for (int i = 0; i < ROOF_COUNT; i++)
		point->quantities[i].state = ROOFLINE_KNOWN;
	for (size_t i = 0; i < PART_COUNT; i++) {
		const struct counted_role *role = counted_as(work, parts[i].role);
		struct roofline_quantity *quantity = &point->quantities[parts[i].roof];

		quantity->total += parts[i].weight * role->total;
		if (role->sample_count)
			count_samples(point, role);
		else if (is_known_without(known, parts[i].role))
			continue;
		else if (absence(known, parts[i].role) < quantity->state)
			quantity->state = absence(known, parts[i].role);
	}
	judge_half(point, work);
}

static void add_rates(struct roofline_point *point)
{
	for (int i = 0; i < ROOF_COUNT; i++) {
		struct roofline_quantity *quantity = &point->quantities[i];

		if (quantity->state != ROOFLINE_KNOWN) {
			quantity->total = 0;
			continue;
		}
		point->is_counted = true;
		quantity->per_launch = roofline_ratio(quantity->total, (double)point->launch_count);
		quantity->per_s = roofline_ratio(quantity->total, point->time_ns) * 1e9;
	}
}

static void add_flops(struct roofline_point *point, bool is_tensor)
{
	double tensor_ops = 0;

	for (int i = ROOF_MEMORY_END; i < ROOF_COMPUTE_END; i++) {
		const struct roofline_quantity *quantity = &point->quantities[i];

		point->has_flops |= quantity->state == ROOFLINE_KNOWN &&
				    (i < ROOF_TENSOR || quantity->total > 0);
		point->flops += quantity->total;
		tensor_ops += i >= ROOF_TENSOR ? quantity->total : 0;
	}
	point->has_uncounted_tensor = is_tensor && tensor_ops <= 0;
	point->flop_per_s = roofline_ratio(point->flops, point->time_ns) * 1e9;
	for (int i = 0; i < ROOF_MEMORY_END; i++)
		point->intensity[i] = roofline_ratio(point->flops, point->quantities[i].total);
}

void roofline_add_quantities(struct roofline_point *point, const struct roofline_quantities *known,
			     const struct counted_work *work, bool is_tensor)
{
	add_quantities(known, point, work);
	add_rates(point);
	add_flops(point, is_tensor);
}
