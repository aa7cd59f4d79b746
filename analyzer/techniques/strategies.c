/* strategies.c - what each strategy does to a run: a row each, and what it changes. */
#include "whatif/apply.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "techniques/fusing.h"
#include "techniques/imbalance.h"

static enum refusal change_graph(struct what_if *out, struct applied *applied, size_t index,
				 const struct loop *loop)
{
	struct captured captured;
	enum refusal refusal = change_to_graph(&applied->change, applied->all->model, loop,
					       applied->end == APPLY_LEAST, &captured);

	if (refusal != REFUSED_NONE)
		return refusal;
	out->is_supposed |= captured.is_supposed;
	out->most_nodes =
		captured.node_count > out->most_nodes ? captured.node_count : out->most_nodes;
	if (change_needs_updates(loop))
		applied->change.update_ns = costs_update_ns(applied->all->predictor.ceilings);
	if (apply_is_new_loop(applied, index))
		applied->setup_ns +=
			costs_instantiate_ns(applied->all->predictor.ceilings, captured.node_count);
	return REFUSED_NONE;
}

/* Fewer waits than every second iteration has one are not the loop's own: they stay. */
static enum refusal change_waits(struct what_if *out, struct applied *applied, size_t index,
				 const struct loop *loop)
{
	size_t count = change_drop_waits(&applied->change, applied->all->model, loop->first_call,
					 loop->first_call + loop->call_count);

	(void)index;
	if (2 * count < loop->iteration_count)
		return REFUSED_NOTHING;
	out->changed_count += count;
	return REFUSED_NONE;
}

/* A sequence that launches graphs becomes graphs that launch each other; kernels become bodies of
 * conditional nodes.  A conditional node's own cost is that of an iteration without its kernel.  False where the
 * ceilings lack it. */
static bool find_decision_ns(int64_t *decision_ns, const struct applied *applied,
			     const struct loop *loop)
{
	const struct model *model = applied->all->model;
	const struct ceilings *ceilings = applied->all->predictor.ceilings;
	const struct ceiling *cost = ceilings_get(ceilings, CEILING_conditional_iteration, 0);
	const struct ceiling *kernel = ceilings_get(ceilings, CEILING_graph_node, 0);

	for (size_t i = loop->iterations[0]; i < loop->iterations[1]; i++)
		if (model_call_class(model, i) == CALL_GRAPH_LAUNCH) {
			cost = ceilings_get(ceilings, CEILING_device_graph_tail, 0);
			*decision_ns = cost ? (int64_t)cost->value : 0;
			return cost;
		}
	*decision_ns = cost && kernel ? (int64_t)fmax(cost->value - kernel->value, 0) : 0;
	return cost && kernel;
}

static enum refusal change_decisions(struct what_if *out, struct applied *applied, size_t index,
				     const struct loop *loop)
{
	uint64_t decision_count = 0;
	int64_t decision_ns;
	enum refusal refusal;

	if (!find_decision_ns(&decision_ns, applied, loop))
		return REFUSED_NOT_MEASURED;
	refusal = change_to_decided(&applied->change, applied->all->model, loop, decision_ns,
				    applied->asked, &decision_count);
	if (refusal != REFUSED_NONE)
		return refusal;
	out->changed_count += decision_count;
	if (apply_is_new_loop(applied, index))
		applied->setup_ns +=
			costs_instantiate_ns(applied->all->predictor.ceilings, loop->period);
	return REFUSED_NONE;
}

static enum refusal change_launches(struct what_if *out, struct applied *applied, size_t index,
				    const struct loop *loop)
{
	uint64_t launched_count = 0;
	enum refusal refusal;

	(void)index;
	if (!costs_has_children(applied->all->predictor.ceilings))
		return REFUSED_NOT_MEASURED;
	refusal = change_to_launched(&applied->change, applied->all->model, loop,
				     applied->end == APPLY_LEAST, applied->asked, &launched_count);
	if (refusal == REFUSED_NONE)
		out->changed_count += launched_count;
	return refusal;
}

static enum refusal change_streams(struct what_if *out, struct applied *applied, size_t index,
				   const struct loop *loop)
{
	(void)out;
	(void)index;
	return change_to_overlapped(&applied->change, applied->all->model, loop);
}

static size_t pin_some(struct applied *applied, bool only_lanes)
{
	const struct what_ifs *all = applied->all;
	const struct ceilings *ceilings = all->predictor.ceilings;

	return change_to_pinned(&applied->change, all->model, applied->device, only_lanes,
				ceilings_at(ceilings, CEILING_h2d_pinned, 0),
				ceilings_at(ceilings, CEILING_d2h_pinned, 0));
}

static size_t pin_copies(struct applied *applied)
{
	return pin_some(applied, false);
}

/* How many times as long a copy takes while one in the other direction runs, at most twice, as one after the
 * other would; 1 where nobody measured it. */
static double link_times(const struct ceilings *ceilings)
{
	double alone = ceilings_at(ceilings, CEILING_h2d_pinned, 0);
	double both = ceilings_at(ceilings, CEILING_pinned_both, 0);

	return both > 0 && both < alone ? fmin(alone / both, 2) : 1;
}

/* Copies of pageable memory run beside nothing: those of overlapped loops are of pinned memory. */
static int change_overlapped_copies(struct what_if *out, struct applied *applied)
{
	const struct what_ifs *all = applied->all;

	if (!out->iteration_count)
		return 0;
	out->changed_count = pin_some(applied, true);
	change_to_shared_link(&applied->change, all->model, applied->device,
			      link_times(all->predictor.ceilings));
	return 0;
}

/* From the first call of each thread whose operation changes to its last one.  before_ns: what op_ns was
 * before. */
static int add_op_places(struct applied *applied, const int64_t *before_ns)
{
	const struct model *model = applied->all->model;
	const struct profile *profile = model->profile;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->thread_count; i++) {
		const struct profile_thread *thread = &profile->threads[i];
		size_t end_call = thread->first_call + thread->call_count, first = end_call,
		       last = 0;

		for (size_t j = thread->first_call; j < end_call; j++)
			for (uint32_t k = model->submissions.first[j];
			     k < model->submissions.first[j + 1]; k++) {
				uint32_t op = model->submissions.ops[k];

				if (applied->change.op_ns[op] != before_ns[op]) {
					first = j < first ? j : first;
					last = j;
				}
			}
		if (first < end_call)
			rc = apply_add_place(applied, first, last + 1);
	}
	return rc;
}

/* Changes how long operations take; the part that a prediction is for is from the first to the last of them. */
static int change_lengths(struct what_if *out, struct applied *applied,
			  size_t (*change)(struct applied *applied))
{
	size_t size = (applied->all->model->profile->op_count + 1) * sizeof(int64_t);
	int64_t *before_ns = malloc(size);
	int rc;

	if (!before_ns)
		return -ENOMEM;
	memcpy(before_ns, applied->change.op_ns, size - sizeof(int64_t));
	out->changed_count = change(applied);
	rc = add_op_places(applied, before_ns);
	free(before_ns);
	return rc;
}

static int change_pinned(struct what_if *out, struct applied *applied)
{
	return change_lengths(out, applied, pin_copies);
}

static enum refusal change_allocations(struct what_if *out, struct applied *applied, size_t index,
				       const struct loop *loop)
{
	size_t count = change_drop_allocations(&applied->change, applied->all->model, loop);

	(void)index;
	if (count < loop->iteration_count)
		return REFUSED_NOTHING;
	out->changed_count += count;
	return REFUSED_NONE;
}

static enum refusal change_kernels(struct what_if *out, struct applied *applied,
				   const struct loop *loop,
				   enum refusal (*change)(struct change *, const struct model *,
							  const struct loop *, uint64_t *))
{
	uint64_t kernel_count;
	enum refusal refusal = change(&applied->change, applied->all->model, loop, &kernel_count);

	if (refusal == REFUSED_NONE)
		out->changed_count += kernel_count;
	return refusal;
}

static enum refusal change_concurrent(struct what_if *out, struct applied *applied, size_t index,
				      const struct loop *loop)
{
	(void)index;
	return change_kernels(out, applied, loop, change_to_concurrent);
}

static enum refusal change_persistent(struct what_if *out, struct applied *applied, size_t index,
				      const struct loop *loop)
{
	(void)index;
	return change_kernels(out, applied, loop, change_to_persistent);
}

/* What counters cannot tell is whose bytes a kernel reads: where they vanish, that is supposed.  Of the loops
 * that are refused, one that has neighbours says why. */
static enum refusal change_neighbours(struct what_if *out, struct applied *applied, size_t index,
				      const struct loop *loop)
{
	struct fusion fusion = applied->all->fusion;
	struct fused fused = {0};
	enum refusal refusal;

	(void)index;
	fusion.is_least = applied->end == APPLY_LEAST;
	refusal = change_to_fused(&applied->change, applied->all->model, loop, &fusion, &fused);
	if (refusal != REFUSED_NONE)
		return out->refusal == REFUSED_GRID_WIDE ? out->refusal : refusal;
	out->changed_count += fused.kernel_count;
	out->vanished_bytes += fused.vanished_bytes;
	out->is_supposed |= fused.handed_count > 0;
	return REFUSED_NONE;
}

static enum refusal change_dependent(struct what_if *out, struct applied *applied, size_t index,
				     const struct loop *loop)
{
	(void)index;
	return change_kernels(out, applied, loop, change_to_dependent);
}

/* Every SM is active for as long as they are on average: the busiest one's excess is gone.  Nothing tells how many
 * items a block has, and a queue cannot split one.  Where each is a single item nothing is gained, which is the low
 * end: blocks that fit at once all run from the start, and of more than that the hardware hands out the next one where
 * there is room, as a queue would. */
static double balanced_share(const struct applied *applied, const struct sm_activity_kernel *kernel)
{
	if (applied->end == APPLY_LEAST)
		return 1;
	return kernel->filled.sms / kernel->filled.busiest_sm;
}

static size_t balance_kernels(struct applied *applied)
{
	const struct report *report = applied->all->report;
	const struct sm_activity *activity = report ? report->sm_activity : NULL;
	size_t changed_count = 0;

	for (size_t i = 0; activity && i < activity->kernel_count; i++) {
		const struct sm_activity_kernel *kernel = &activity->kernels[i];

		if (imbalance_is_there(kernel))
			changed_count += change_to_share(&applied->change, applied->all->model,
							 applied->device, kernel->kernel,
							 sm_activity_is_filled,
							 balanced_share(applied, kernel));
	}
	return changed_count;
}

static int change_balance(struct what_if *out, struct applied *applied)
{
	return change_lengths(out, applied, balance_kernels);
}

/* How atomics are merged, by which strategy, and how many: as many as was asked for, or without that as the kernel
 * needs for them to matter no more. */
struct merging {
	enum atomics_merging where;
	uint64_t asked; /* 0: not */
};

static uint64_t merged_count(const struct merging *merging, const struct atomics_kernel *kernel,
			     enum atomics_end end)
{
	if (merging->asked)
		return merging->asked;
	return end == ATOMICS_MOST ? kernel->most_batch : kernel->batch;
}

static enum atomics_end atomics_end(const struct applied *applied)
{
	return applied->end == APPLY_LEAST  ? ATOMICS_LEAST
	       : applied->end == APPLY_MOST ? ATOMICS_MOST
					    : ATOMICS_MIDDLE;
}

static double merged_share(const struct applied *applied, const struct merging *merging,
			   const struct atomics_kernel *kernel)
{
	enum atomics_end end = atomics_end(applied);

	return atomics_merged_ns(kernel, merging->where, merged_count(merging, kernel, end), end) /
	       kernel->duration_ns;
}

/* Counters of several devices are of one kernel together: only where there is one. */
static size_t merge_atomics(struct applied *applied, const struct merging *merging)
{
	const struct what_ifs *all = applied->all;
	const struct atomics *atomics = all->report ? all->report->atomics : NULL;
	size_t changed_count = 0;

	if (!atomics || all->model->profile->device_count != 1)
		return 0;
	for (size_t i = 0; i < atomics->kernel_count; i++) {
		const struct atomics_kernel *kernel = &atomics->kernels[i];

		if (kernel->is_bottleneck && merged_count(merging, kernel, ATOMICS_MIDDLE) > 1)
			changed_count += change_to_share(&applied->change, all->model,
							 applied->device, kernel->kernel, NULL,
							 merged_share(applied, merging, kernel));
	}
	return changed_count;
}

static size_t merge_in_threads(struct applied *applied)
{
	return merge_atomics(applied, &(struct merging){ATOMICS_IN_THREADS,
							applied->all->numbers[STRATEGY_BATCH]});
}

static size_t merge_in_blocks(struct applied *applied)
{
	return merge_atomics(applied, &(struct merging){ATOMICS_IN_BLOCKS,
							applied->all->numbers[STRATEGY_AGGREGATE]});
}

static int change_batches(struct what_if *out, struct applied *applied)
{
	return change_lengths(out, applied, merge_in_threads);
}

static int change_aggregates(struct what_if *out, struct applied *applied)
{
	return change_lengths(out, applied, merge_in_blocks);
}

/* What is left of a launch with all bytes of DRAM narrowed, at the low end half of what would vanish. */
static double narrowed_share(const struct applied *applied, const struct roofline *roofline,
			     const struct roofline_point *point)
{
	const struct fusion fusion = {.dram_byte_per_s = roofline->roofs[ROOF_dram]};
	const struct fusion_kernel kernel = {
		.is_known = true,
		.read_bytes = point->quantities[ROOF_dram].per_launch,
		.arithmetic_share = fusing_arithmetic_share(point),
	};
	double launch_ns = point->time_ns / (double)point->launch_count;
	double vanished_part = 1 - 1 / (double)applied->all->numbers[STRATEGY_NARROW];
	double narrow_ns;

	if (applied->end == APPLY_LEAST)
		vanished_part /= 2;
	narrow_ns =
		fusion_time_ns(&fusion, &kernel, launch_ns, vanished_part * kernel.read_bytes, 0);
	return fmin(fmax(narrow_ns, roofline->graph_node_ns) / launch_ns, 1);
}

static size_t narrow_kernels(struct applied *applied)
{
	const struct what_ifs *all = applied->all;
	const struct roofline *roofline = all->report ? all->report->roofline : NULL;
	size_t changed_count = 0;

	if (!roofline || all->model->profile->device_count != 1)
		return 0;
	for (size_t i = 0; i < roofline->kernel_count; i++) {
		const struct roofline_point *point = &roofline->kernels[i];

		if (roofline_is_at_dram(point))
			changed_count += change_to_share(&applied->change, all->model,
							 applied->device, point->subject, NULL,
							 narrowed_share(applied, roofline, point));
	}
	return changed_count;
}

static int change_narrow(struct what_if *out, struct applied *applied)
{
	return change_lengths(out, applied, narrow_kernels);
}

static int take_calls(struct applied *applied, size_t first, size_t end_call)
{
	for (size_t i = first; i < end_call; i++)
		if (applied->change.calls[i] != CALL_KEPT)
			applied->is_changed[i] = applied->is_taken[i] = true;
	return apply_add_place(applied, first, end_call);
}

static int change_updates(struct what_if *out, struct applied *applied)
{
	const struct what_ifs *all = applied->all;
	int rc = 0;

	if (!costs_has_rebuilt(all->predictor.ceilings))
		out->refusal = REFUSED_NOT_MEASURED;
	else
		for (size_t i = 0; rc == 0 && i < all->model->profile->thread_count; i++) {
			struct updated updated;
			enum refusal refusal =
				change_to_updated(&applied->change, all->model, i, &updated);

			if (refusal == REFUSED_OTHER_NODES)
				out->refusal = refusal;
			if (refusal != REFUSED_NONE)
				continue;
			out->changed_count += updated.graph_count;
			rc = take_calls(applied, updated.first_call, updated.end_call);
		}
	return rc;
}

const struct strategy_row strategy_rows[STRATEGY_COUNT] = {
	[STRATEGY_GRAPH] = {.refusal = REFUSED_IRREGULAR, .change_loop = change_graph},
	[STRATEGY_FEWER_WAITS] = {.is_shared = true,
				  .refusal = REFUSED_NOTHING,
				  .change_loop = change_waits},
	[STRATEGY_DECIDE] = {.refusal = REFUSED_NO_DECISION,
			     .has_ops = true,
			     .change_loop = change_decisions},
	[STRATEGY_LAUNCH] = {.refusal = REFUSED_NO_CHILDREN,
			     .has_ops = true,
			     .has_lanes = true,
			     .is_supposed = true,
			     .change_loop = change_launches},
	[STRATEGY_UPDATE] = {.refusal = REFUSED_NOT_REBUILT, .change_ops = change_updates},
	[STRATEGY_OVERLAP] = {.refusal = REFUSED_NO_COPIES,
			      .has_ops = true,
			      .has_lanes = true,
			      .change_loop = change_streams,
			      .change_ops = change_overlapped_copies},
	[STRATEGY_PINNED] = {.refusal = REFUSED_NOTHING,
			     .has_ops = true,
			     .change_ops = change_pinned},
	[STRATEGY_PREALLOCATE] = {.is_shared = true,
				  .refusal = REFUSED_NOTHING,
				  .change_loop = change_allocations},
	[STRATEGY_CONCURRENT] = {.refusal = REFUSED_FULL_GPU,
				 .has_lanes = true,
				 .is_supposed = true,
				 .change_loop = change_concurrent},
	[STRATEGY_PERSISTENT] = {.refusal = REFUSED_IRREGULAR, .change_loop = change_persistent},
	[STRATEGY_QUEUE] = {.refusal = REFUSED_BALANCED,
			    .has_ops = true,
			    .is_supposed = true,
			    .change_ops = change_balance},
	[STRATEGY_BATCH] = {.refusal = REFUSED_NOT_HOT,
			    .has_ops = true,
			    .is_supposed = true,
			    .has_most = true,
			    .change_ops = change_batches},
	[STRATEGY_AGGREGATE] = {.refusal = REFUSED_NOT_HOT,
				.has_ops = true,
				.is_supposed = true,
				.has_most = true,
				.change_ops = change_aggregates},
	[STRATEGY_NARROW] = {.refusal = REFUSED_NOT_AT_ROOF,
			     .has_ops = true,
			     .is_supposed = true,
			     .change_ops = change_narrow},
	[STRATEGY_FUSE] = {.refusal = REFUSED_NOT_ALIKE,
			   .has_ops = true,
			   .change_loop = change_neighbours},
	[STRATEGY_DEPENDENT] = {.refusal = REFUSED_NO_NEIGHBOURS, .change_loop = change_dependent},
};

#define STRATEGY_NAME(constant, name, option, argument, help, changed) \
	[STRATEGY_##constant] = (name),
#define STRATEGY_OPTION(constant, name, option, argument, help, changed) \
	[STRATEGY_##constant] = (option),

#define HAS_NONE false
#define HAS_RANGE false
#define HAS_N true
#define STRATEGY_HAS_NUMBER(constant, name, option, argument, help, changed) \
	[STRATEGY_##constant] = HAS_##argument,

bool strategy_has_number(enum strategy strategy)
{
	static const bool has_number[] = {STRATEGIES(STRATEGY_HAS_NUMBER)};

	return has_number[strategy];
}

const char *strategy_name(enum strategy strategy)
{
	static const char *const names[] = {STRATEGIES(STRATEGY_NAME)};

	return names[strategy];
}

const char *strategy_option(enum strategy strategy)
{
	static const char *const options[] = {STRATEGIES(STRATEGY_OPTION)};

	return options[strategy];
}
