#include "analysis/samples/run_matcher.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/statistics/device_graphs.h"
#include "base/search.h"

/* A run and the record of the operation with which it begins: the record begins up to a microsecond
 * before the first SM is active.  Samples are no finer than that; where they are longer, a run's start is
 * no better known than to one of them. */
#define MATCH_NS 1500

static const struct profile_graph_launch *graph_launch_of(const struct run_matcher *matcher,
							  const struct profile_op *op)
{
	return op->kind == OP_GRAPH ? &matcher->profile->graph_launches[op->detail] : NULL;
}

bool run_matcher_is_device_graph(const struct run_matcher *matcher, const struct profile_op *op)
{
	const struct profile_graph_launch *launch = graph_launch_of(matcher, op);

	return launch && launch->launch_mode != LAUNCH_BY_HOST;
}

struct moment {
	const struct profile_op *ops;
	int64_t ns;
};

static bool is_op_from(size_t index, const void *context)
{
	const struct moment *moment = context;

	return moment->ops[index].start_ns >= moment->ns;
}

/* The first operation that begins at the time or later. */
static size_t first_op_from(const struct run_matcher *matcher, int64_t time_ns)
{
	return search_first(0, matcher->op_count, is_op_from,
			    &(struct moment){matcher->ops, time_ns});
}

static enum rank rank_of(const struct run_matcher *matcher, const struct profile_op *op)
{
	if (run_matcher_is_device_graph(matcher, op))
		return RANK_DEVICE_GRAPH;
	return op->kind == OP_KERNEL ? RANK_KERNEL : op->kind == OP_GRAPH ? RANK_GRAPH : RANK_OTHER;
}

static void add_ranked(struct run_matcher *matcher, uint32_t op)
{
	struct ranked *ranked = &matcher->ranked[rank_of(matcher, &matcher->ops[op])];
	size_t i = ranked->count;

	while (i && matcher->ops[ranked->ops[i - 1]].end_ns <= matcher->ops[op].end_ns)
		i = ranked->longer[i - 1];
	ranked->ops[ranked->count] = op;
	ranked->longer[ranked->count++] = (uint32_t)i;
}

/* Sorts operations by rank; each rank keeps their order. */
static int matcher_rank(struct run_matcher *matcher)
{
	size_t counts[RANK_COUNT] = {0}, used = 0;

	matcher->rank_slots = malloc((2 * matcher->op_count + 1) * sizeof(*matcher->rank_slots));
	if (!matcher->rank_slots)
		return -ENOMEM;
	for (size_t i = 0; i < matcher->op_count; i++)
		counts[rank_of(matcher, &matcher->ops[i])]++;
	for (int rank = 0; rank < RANK_COUNT; rank++) {
		matcher->ranked[rank].ops = matcher->rank_slots + used;
		matcher->ranked[rank].longer = matcher->rank_slots + used + counts[rank];
		used += 2 * counts[rank];
	}
	for (size_t i = 0; i < matcher->op_count; i++)
		add_ranked(matcher, (uint32_t)i);
	return 0;
}

struct bound {
	const struct ranked *ranked;
	size_t op;
};

static bool is_at_bound(size_t index, const void *context)
{
	const struct bound *bound = context;

	return bound->ranked->ops[index] >= bound->op;
}

/* How many operations of a rank begin before ops[bound]. */
static size_t count_before(const struct ranked *ranked, size_t bound)
{
	return search_first(0, ranked->count, is_at_bound, &(struct bound){ranked, bound});
}

/* The operation that still ran at the time: of several the best by rank, then the latest; or -1. */
ptrdiff_t run_matcher_find_cover(const struct run_matcher *matcher, int64_t time_ns)
{
	size_t bound = first_op_from(matcher, time_ns + MATCH_NS);

	for (int rank = RANK_COUNT - 1; rank >= 0; rank--) {
		const struct ranked *ranked = &matcher->ranked[rank];
		size_t i = count_before(ranked, bound);

		while (i && matcher->ops[ranked->ops[i - 1]].end_ns < time_ns)
			i = ranked->longer[i - 1];
		if (i)
			return (ptrdiff_t)ranked->ops[i - 1];
	}
	return -1;
}

/* The operation that ended last before the time; or -1. */
ptrdiff_t run_matcher_find_before(const struct run_matcher *matcher, int64_t time_ns)
{
	size_t i = first_op_from(matcher, time_ns);

	return i ? (ptrdiff_t)matcher->latest[i - 1] : -1;
}

static uint64_t grid_of(const struct run_matcher *matcher, const struct profile_op *op)
{
	const struct profile_signature *signature;

	if (op->kind != OP_KERNEL || op->detail == PROFILE_NONE)
		return 0;
	signature = &matcher->profile->signatures[op->detail];
	return (uint64_t)signature->grid[0] * signature->grid[1] * signature->grid[2];
}

static int64_t match_ns(const struct sample_run *run)
{
	int64_t length_ns = (int64_t)run->first_length_ns;

	return length_ns > MATCH_NS ? length_ns : MATCH_NS;
}

struct known_run run_matcher_look_up(const struct run_matcher *matcher,
				     const struct sample_run *run)
{
	struct known_run known = {.first = -1, .is_counted = true, .next_ns = INT64_MAX};
	int64_t near_ns = match_ns(run);

	for (size_t i = first_op_from(matcher, run->start_ns - near_ns);
	     i < matcher->op_count && matcher->ops[i].start_ns < run->end_ns; i++) {
		const struct profile_op *op = &matcher->ops[i];
		bool is_first = op->start_ns <= run->start_ns + near_ns;

		if (run_matcher_is_device_graph(matcher, op))
			continue;
		if (is_first && known.first < 0)
			known.first = (ptrdiff_t)i;
		else if (!is_first && op->start_ns < known.next_ns)
			known.next_ns = op->start_ns;
		known.kernel_count += op->kind == OP_KERNEL;
		known.block_count += grid_of(matcher, op);
		known.is_counted &= op->kind == OP_KERNEL;
	}
	return known;
}

int run_matcher_open(struct run_matcher *matcher, const struct profile *profile, uint32_t device)
{
	const struct profile_device *of = &profile->devices[device];

	*matcher = (struct run_matcher){
		.profile = profile,
		.device = device,
		.ops = profile->ops + of->first_op,
		.op_count = of->op_count,
		.latest = malloc((of->op_count + 1) * sizeof(*matcher->latest)),
	};
	if (!matcher->latest)
		return -ENOMEM;
	for (size_t i = 0; i < of->op_count; i++)
		matcher->latest[i] =
			i && matcher->ops[matcher->latest[i - 1]].end_ns > matcher->ops[i].end_ns
				? matcher->latest[i - 1]
				: (uint32_t)i;
	return matcher_rank(matcher);
}

void run_matcher_close(struct run_matcher *matcher)
{
	free(matcher->latest);
	free(matcher->rank_slots);
}
