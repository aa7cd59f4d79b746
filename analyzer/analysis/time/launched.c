#include "analysis/time/launched.h"

#include "analysis/loops/submissions.h"
#include "base/search.h"
#include "base/sums.h"

#include <errno.h>
#include <stdlib.h>

#define BLOCK 32 /* operations per leaf of the tree */

struct extent {
	int64_t first_ns, last_ns;
};

static const struct extent no_extent = {INT64_MAX, INT64_MIN};

struct launched {
	const struct profile *profile;
	struct submissions submissions; /* places are those in it */
	int64_t *before_ns;		/* by block: sum of the durations before it */
	struct extent *tree;		/* leaves are blocks, from leaf_count on */
	size_t leaf_count;
};

static struct extent join(struct extent a, struct extent b)
{
	return (struct extent){a.first_ns < b.first_ns ? a.first_ns : b.first_ns,
			       a.last_ns > b.last_ns ? a.last_ns : b.last_ns};
}

static const struct profile_op *op_at(const struct launched *launched, size_t place)
{
	return &launched->profile->ops[submissions_op(&launched->submissions, place)];
}

static struct extent extent_of(const struct launched *launched, size_t place)
{
	const struct profile_op *op = op_at(launched, place);

	return (struct extent){op->start_ns, op->end_ns};
}

/* Of the places from first on, within a block. */
static int64_t sum_of(const struct launched *launched, size_t first, size_t end)
{
	int64_t sum_ns = 0;

	for (size_t i = first; i < end; i++) {
		const struct profile_op *op = op_at(launched, i);

		sum_add_ns(&sum_ns, op->end_ns - op->start_ns);
	}
	return sum_ns;
}

static void sum_up_block(struct launched *launched, size_t block, size_t end)
{
	struct extent *leaf = &launched->tree[launched->leaf_count + block];

	for (size_t i = block * BLOCK; i < end; i++)
		*leaf = join(*leaf, extent_of(launched, i));
	launched->before_ns[block + 1] = launched->before_ns[block];
	sum_add_ns(&launched->before_ns[block + 1], sum_of(launched, block * BLOCK, end));
}

static int sum_up(struct launched *launched)
{
	size_t count = submissions_first(&launched->submissions, launched->profile->call_count);

	launched->leaf_count = count / BLOCK + 1;
	launched->tree = calloc(2 * launched->leaf_count, sizeof(*launched->tree));
	launched->before_ns = calloc(launched->leaf_count + 1, sizeof(*launched->before_ns));
	if (!launched->tree || !launched->before_ns)
		return -ENOMEM;
	for (size_t i = 0; i < 2 * launched->leaf_count; i++)
		launched->tree[i] = no_extent;
	for (size_t i = 0; i < launched->leaf_count; i++)
		sum_up_block(launched, i, count < (i + 1) * BLOCK ? count : (i + 1) * BLOCK);
	for (size_t i = launched->leaf_count - 1; i > 0; i--)
		launched->tree[i] = join(launched->tree[2 * i], launched->tree[2 * i + 1]);
	return 0;
}

int launched_open(struct launched **out, const struct profile *profile)
{
	struct launched *launched = calloc(1, sizeof(*launched));
	int rc;

	if (!launched)
		return -ENOMEM;
	launched->profile = profile;
	rc = submissions_find(&launched->submissions, profile);
	if (rc == 0)
		rc = sum_up(launched);
	if (rc < 0) {
		launched_close(launched);
		return rc;
	}
	*out = launched;
	return 0;
}

/* Of places [place, end): single ones up to block borders, the tree between. */
static struct extent extent_between(const struct launched *launched, size_t place, size_t end)
{
	struct extent extent = no_extent;
	size_t left, right;

	while (place < end && place % BLOCK)
		extent = join(extent, extent_of(launched, place++));
	while (place < end && end % BLOCK)
		extent = join(extent, extent_of(launched, --end));
	left = launched->leaf_count + place / BLOCK;
	right = launched->leaf_count + end / BLOCK;
	for (; left < right; left /= 2, right /= 2) {
		if (left & 1)
			extent = join(extent, launched->tree[left++]);
		if (right & 1)
			extent = join(extent, launched->tree[--right]);
	}
	return extent;
}

static int64_t ns_before(const struct launched *launched, size_t place)
{
	int64_t ns = launched->before_ns[place / BLOCK];

	sum_add_ns(&ns, sum_of(launched, place / BLOCK * BLOCK, place));
	return ns;
}

struct launched_sum launched_by(const struct launched *launched, size_t first, size_t end)
{
	size_t from = submissions_first(&launched->submissions, first);
	size_t to = submissions_first(&launched->submissions, end);
	struct extent extent = extent_between(launched, from, to);

	return (struct launched_sum){to - from, ns_before(launched, to) - ns_before(launched, from),
				     extent.first_ns, extent.last_ns};
}

struct moment {
	const struct profile *profile;
	int64_t ns;
};

static bool is_call_from(size_t index, const void *context)
{
	const struct moment *moment = context;

	return moment->profile->calls[index].start_ns >= moment->ns;
}

/* The first call of the thread that starts at moment_ns or later. */
static size_t first_call_from(const struct profile *profile, uint32_t thread, int64_t moment_ns)
{
	const struct profile_thread *of = &profile->threads[thread];

	return search_first(of->first_call, of->first_call + of->call_count, is_call_from,
			    &(struct moment){profile, moment_ns});
}

struct launched_sum launched_during(const struct launched *launched, uint32_t thread,
				    int64_t start_ns, int64_t end_ns)
{
	size_t first = first_call_from(launched->profile, thread, start_ns);
	size_t end = first_call_from(launched->profile, thread, end_ns);

	return launched_by(launched, first, end > first ? end : first);
}

struct launched_sum launched_in_range(const struct launched *launched,
				      const struct profile_range *range)
{
	const struct profile *profile = launched->profile;
	struct launched_sum all = {.first_ns = INT64_MAX, .last_ns = INT64_MIN};

	if (range->is_push_pop)
		return launched_during(launched, range->thread, range->start_ns, range->end_ns);
	for (uint32_t i = 0; i < profile->thread_count; i++) {
		struct launched_sum sum;

		if (!profile->threads[i].call_count ||
		    profile->threads[i].process != profile->threads[range->thread].process)
			continue;
		sum = launched_during(launched, i, range->start_ns, range->end_ns);
		all.op_count += sum.op_count;
		sum_add_ns(&all.gpu_ns, sum.gpu_ns);
		all.first_ns = sum.first_ns < all.first_ns ? sum.first_ns : all.first_ns;
		all.last_ns = sum.last_ns > all.last_ns ? sum.last_ns : all.last_ns;
	}
	return all;
}

void launched_close(struct launched *launched)
{
	if (!launched)
		return;
	submissions_free(&launched->submissions);
	free(launched->before_ns);
	free(launched->tree);
	free(launched);
}
