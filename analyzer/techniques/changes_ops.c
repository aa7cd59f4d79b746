/* changes_ops.c - strategies that change operations rather than calls: how long they take, and what runs
 * beside them. */
#include "techniques/changes.h"

#include <string.h>

#include "analysis/counters/occupancy.h"
#include "replay/calls.h"

/* ---- pinned memory ---- */

size_t change_to_pinned(struct change *change, const struct model *model, size_t device,
			bool only_lanes, double to_device, double to_host)
{
	const struct profile *profile = model->profile;
	const struct profile_device *where = &profile->devices[device];
	size_t changed_count = 0;

	for (size_t i = where->first_op; i < where->first_op + where->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];
		const struct profile_copy *copy;
		double rate;

		if (op->kind != OP_COPY || change->op_ns[i] >= 0 ||
		    (only_lanes && change->lanes[i] == PROFILE_NONE))
			continue;
		copy = &profile->copies[op->detail];
		if (copy->src_memory != MEMORY_PAGEABLE && copy->dst_memory != MEMORY_PAGEABLE)
			continue;
		rate = copy->kind == COPY_TO_DEVICE ? to_device : to_host;
		if (rate <= 0 ||
		    (double)copy->bytes / rate * 1e9 >= (double)(op->end_ns - op->start_ns))
			continue;
		change->op_ns[i] =
			1 + (int64_t)((double)copy->bytes / rate * 1e9); /* never OP_GONE */
		changed_count++;
		/* an asynchronous copy of pageable memory returns after it was staged */
		if (op->call != PROFILE_NONE && change->calls[op->call] == CALL_KEPT &&
		    model->behavior[op->call] == CALL_WORKS)
			change->calls[op->call] = CALL_MADE_ASYNC;
	}
	return changed_count;
}

/* ---- copies in both directions at once ---- */

void change_to_shared_link(struct change *change, const struct model *model, size_t device,
			   double times)
{
	const struct profile *profile = model->profile;
	const struct profile_device *where = &profile->devices[device];

	for (size_t i = where->first_op; i < where->first_op + where->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];
		int64_t length_ns =
			change->op_ns[i] >= 0 ? change->op_ns[i] : op->end_ns - op->start_ns;

		if (op->kind == OP_COPY && change->lanes[i] != PROFILE_NONE)
			change->op_ns[i] = (int64_t)(times * (double)length_ns);
	}
}

/* ---- kernels side by side ---- */

/* Kernels in one lane after the other; what is no kernel, and the first one of an iteration or of a graph, or after
 * a graph, waits for all. */
static void spread_call(struct change *change, const struct model *model, size_t call,
			uint32_t *lane, bool *is_joined)
{
	const struct submissions *submissions = &model->submissions;
	bool is_graph = model_call_class(model, call) == CALL_GRAPH_LAUNCH;

	*is_joined = *is_joined || is_graph;
	for (uint32_t i = submissions->first[call]; i < submissions->first[call + 1]; i++) {
		uint32_t op = submissions->ops[i];
		bool is_kernel = model->profile->ops[op].kind == OP_KERNEL;

		change->lanes[op] = (*lane)++ % change->lane_count;
		if (*is_joined || !is_kernel)
			change->lanes[op] |= LANE_JOINED;
		change->fill[op] = (uint8_t)call_fill(model->profile, &model->profile->ops[op]);
		*is_joined = !is_kernel;
	}
	*is_joined = *is_joined || is_graph;
}

/* A graph whose nodes are not in the recording, or whose conditional nodes launch between them, has an order of its
 * own. */
static enum refusal why_not_spread(const struct model *model, size_t call)
{
	const struct profile_op *ops = model->profile->ops;
	const uint32_t *nodes = &model->submissions.ops[model->submissions.first[call]];
	size_t count = submissions_count(&model->submissions, call);

	if (model_call_class(model, call) != CALL_GRAPH_LAUNCH)
		return REFUSED_NONE;
	if (!count || ops[nodes[0]].kind == OP_GRAPH)
		return REFUSED_HAS_GRAPHS;
	for (uint32_t i = nodes[0]; i < nodes[count - 1]; i++)
		if (ops[i].call == PROFILE_NONE)
			return REFUSED_DEVICE_WORK;
	return REFUSED_NONE;
}

/* In a loop of one kernel nothing says what an iteration is: waits of the host part them. */
enum refusal change_to_concurrent(struct change *change, const struct model *model,
				  const struct loop *loop, uint64_t *kernel_count)
{
	size_t end = loop->first_call + loop->call_count, small_count = 0;
	enum refusal refusal;
	uint32_t lane = 0;
	bool is_joined = true;

	*kernel_count = 0;
	for (size_t i = loop->first_call; i < end; i++) {
		refusal = why_not_spread(model, i);
		if (refusal != REFUSED_NONE)
			return refusal;
		for (uint32_t j = model->submissions.first[i]; j < model->submissions.first[i + 1];
		     j++) {
			const struct profile_op *op =
				&model->profile->ops[model->submissions.ops[j]];

			small_count += call_fill(model->profile, op) <= 50;
			*kernel_count += op->kind == OP_KERNEL;
		}
	}
	if (!small_count)
		return REFUSED_FULL_GPU;
	if (change_is_streamed(model, loop, true, 2))
		return REFUSED_STREAMED;
	for (size_t i = 0; i < loop->iteration_count; i++) {
		is_joined = is_joined || loop->period > 1;
		for (size_t j = loop->iterations[i]; j < loop->iterations[i + 1]; j++) {
			spread_call(change, model, j, &lane, &is_joined);
			is_joined = is_joined || model_call_class(model, j) == CALL_SYNC;
		}
	}
	return REFUSED_NONE;
}

/* ---- neighbours ---- */

/* The only operation that a call submitted, when that is a kernel of no graph; NULL otherwise. */
static const struct profile_op *kernel_of(const struct model *model, size_t call)
{
	const struct submissions *submissions = &model->submissions;
	const struct profile_op *op;

	if (submissions_count(submissions, call) != 1 ||
	    model_call_class(model, call) != CALL_LAUNCH)
		return NULL;
	op = &model->profile->ops[submissions->ops[submissions->first[call]]];
	return op->kind == OP_KERNEL ? op : NULL;
}

static bool is_alike(const struct profile *profile, const struct profile_op *left,
		     const struct profile_op *right)
{
	const struct profile_signature *a = &profile->signatures[left->detail];
	const struct profile_signature *b = &profile->signatures[right->detail];

	return left->stream == right->stream && !memcmp(a->grid, b->grid, sizeof(a->grid)) &&
	       !memcmp(a->block, b->block, sizeof(a->block));
}

/* Whether a call may stand between launches of kernels that are fused. */
static bool may_be_between(const struct change *change, const struct model *model, size_t call)
{
	enum profile_call_class class = model_call_class(model, call);

	return !submissions_count(&model->submissions, call) &&
	       (class == CALL_OTHER || class == CALL_EVENT ||
		(change && change->calls[call] == CALL_DROPPED));
}

/* Kernels of an iteration as they are gone through. */
struct neighbours {
	struct change *change; /* NULL: only to look */
	const struct model *model;
	const struct fusion *fusion;
	struct fused *fused;
	bool is_grid_wide;		 /* some are not fused for that */
	const struct profile_op *before; /* NULL: none that this one could go into */
	double before_ns;		 /* that it took, before it was fused */
	double before_taken_bytes;	 /* that vanish of its reading */
};

static double length_ns(const struct neighbours *it, const struct profile_op *op)
{
	const struct change *change = it->change;
	size_t index = (size_t)(op - it->model->profile->ops);

	return change && change->op_ns && change->op_ns[index] >= 0
		       ? (double)change->op_ns[index]
		       : (double)(op->end_ns - op->start_ns);
}

/* Returns what is saved by that. */
static double shorten(const struct neighbours *it, const struct profile_op *op, double from_ns,
		      double to_ns)
{
	int64_t length = (int64_t)to_ns;

	if (it->change && it->change->op_ns && to_ns < from_ns)
		it->change->op_ns[op - it->model->profile->ops] = length > 1 ? length : 1;
	return from_ns - to_ns;
}

/* What the kernel before wrote is not read from memory any more.  Returns how many bytes that is. */
static double hand_on(struct neighbours *it, const struct profile_op *op)
{
	const struct fusion *fusion = it->fusion;
	const struct fusion_kernel *first = &fusion->kernels[it->before->detail];
	const struct fusion_kernel *second = &fusion->kernels[op->detail];
	double bytes = fusion_handed_bytes(first, second), taken = it->before_taken_bytes;
	double first_ns = fusion_time_ns(fusion, first, it->before_ns, taken, 0);
	double second_ns = length_ns(it, op);
	struct fused *fused = it->fused;

	fused->saved_ns += shorten(it, it->before, first_ns,
				   fusion_time_ns(fusion, first, it->before_ns, taken, bytes));
	fused->saved_ns +=
		shorten(it, op, second_ns, fusion_time_ns(fusion, second, second_ns, bytes, 0));
	fused->vanished_bytes += fusion->is_least ? bytes : 2 * bytes;
	fused->handed_count++;
	if (bytes > fused->most_handed_bytes) {
		fused->most_handed_bytes = bytes;
		fused->first = it->before->detail;
		fused->second = op->detail;
	}
	return bytes;
}

/* Returns how many bytes of its reading vanish. */
static double fuse(struct neighbours *it, size_t call, const struct profile_op *op)
{
	enum fusion_verdict verdict =
		fusion_judge(it->fusion, it->model->profile, it->before->detail, op->detail);

	if (verdict == FUSION_GRID_WIDE) {
		it->is_grid_wide = true;
		return 0;
	}
	if (it->change)
		it->change->calls[call] = CALL_FUSED;
	it->fused->kernel_count++;
	return verdict == FUSION_HANDS_ON ? hand_on(it, op) : 0;
}

static void fuse_iteration(struct neighbours *it, size_t first, size_t end)
{
	const struct model *model = it->model;

	it->before = NULL;
	for (size_t i = first; i < end; i++) {
		const struct profile_op *op = kernel_of(model, i);
		double op_ns = op ? length_ns(it, op) : 0, taken_bytes = 0;

		if (may_be_between(it->change, model, i))
			continue;
		if (op && it->before && is_alike(model->profile, it->before, op))
			taken_bytes = fuse(it, i, op);
		it->before = op;
		it->before_ns = op_ns;
		it->before_taken_bytes = taken_bytes;
	}
}

enum refusal change_to_fused(struct change *change, const struct model *model,
			     const struct loop *loop, const struct fusion *fusion,
			     struct fused *fused)
{
	struct neighbours neighbours = {.change = change,
					.model = model,
					.fusion = fusion,
					.fused = fused};
	uint64_t kernel_count = fused->kernel_count;

	for (size_t i = 0; i < loop->iteration_count; i++)
		fuse_iteration(&neighbours, loop->iterations[i], loop->iterations[i + 1]);
	if (fused->kernel_count > kernel_count)
		return REFUSED_NONE;
	return neighbours.is_grid_wide ? REFUSED_GRID_WIDE : REFUSED_NOT_ALIKE;
}

enum refusal change_to_dependent(struct change *change, const struct model *model,
				 const struct loop *loop, uint64_t *kernel_count)
{
	const struct profile_op *ops = model->profile->ops;
	size_t end = loop->first_call + loop->call_count;

	*kernel_count = 0;
	for (size_t i = loop->first_call; i < end; i++) {
		const struct profile_op *op = kernel_of(model, i);
		uint32_t before = op ? model->predecessor[op - ops] : PROFILE_NONE;

		if (before == PROFILE_NONE || ops[before].kind != OP_KERNEL)
			continue;
		change->calls[i] = CALL_DEPENDENT;
		++*kernel_count;
	}
	return *kernel_count ? REFUSED_NONE : REFUSED_NO_NEIGHBOURS;
}

/* ---- one persistent kernel ---- */

enum refusal change_to_persistent(struct change *change, const struct model *model,
				  const struct loop *loop, uint64_t *kernel_count)
{
	size_t first = loop->first_call, last = first + loop->call_count;

	while (last > first && !submissions_count(&model->submissions, last - 1))
		last--;
	*kernel_count = 0;
	for (size_t i = first; i < last; i++) {
		enum profile_call_class class = model_call_class(model, i);

		if (class == CALL_GRAPH_LAUNCH || class == CALL_GRAPH_MANAGE)
			return REFUSED_HAS_GRAPHS;
		if (class == CALL_MEMORY)
			return REFUSED_ALLOCATES;
		if (class == CALL_SYNC || class == CALL_COPY)
			return REFUSED_NOT_KERNELS;
		for (uint32_t j = model->submissions.first[i]; j < model->submissions.first[i + 1];
		     j++) {
			const struct profile_op *op =
				&model->profile->ops[model->submissions.ops[j]];
			struct occupancy occupancy;

			if (op->kind != OP_KERNEL)
				return REFUSED_NOT_KERNELS;
			if (!occupancy_of(&occupancy, &model->profile->devices[op->device],
					  &model->profile->signatures[op->detail]) ||
			    occupancy.waves > 1)
				return REFUSED_NOT_RESIDENT;
			++*kernel_count;
		}
	}
	for (size_t i = first; i < last; i++)
		change->calls[i] = i == first ? CALL_AS_GRAPH : CALL_IN_KERNEL;
	return REFUSED_NONE;
}

/* ---- shorter kernels ---- */

size_t change_to_share(struct change *change, const struct model *model, size_t device,
		       uint32_t kernel, change_concerns *concerns, double share)
{
	const struct profile *profile = model->profile;
	const struct profile_device *where = &profile->devices[device];
	size_t changed_count = 0;

	for (size_t i = where->first_op; i < where->first_op + where->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		if (op->kind != OP_KERNEL || change->op_ns[i] >= 0 ||
		    profile->signatures[op->detail].kernel != kernel ||
		    (concerns && !concerns(where, &profile->signatures[op->detail])))
			continue;
		change->op_ns[i] = 1 + (int64_t)(share * (double)(op->end_ns - op->start_ns));
		changed_count++;
	}
	return changed_count;
}
