#include "analysis/time/launched.h"

#include "base/sums.h"
#include "base/search.h"

#include <errno.h>
#include <stdlib.h>

#define BLOCK 32 /* operations per leaf of the tree */

struct extent {
	int64_t first_ns, last_ns;
};

static const struct extent no_extent = {INT64_MAX, INT64_MIN};

struct launched {
	const struct profile *profile;
	uint32_t *first_of_call; /* per call, where its operations begin in order[]; one more */
	uint32_t *order;	 /* ops[] by call */
	int64_t *before_ns;	 /* sum of the durations before each place in order[]; one more */
	struct extent *tree;	 /* leaves are blocks of order[], from leaf_count on */
	size_t leaf_count;
};

static struct extent join(struct extent a, struct extent b)
{
	return (struct extent){a.first_ns < b.first_ns ? a.first_ns : b.first_ns,
			       a.last_ns > b.last_ns ? a.last_ns : b.last_ns};
}

static struct extent extent_of(const struct launched *launched, size_t place)
{
	const struct profile_op *op = &launched->profile->ops[launched->order[place]];

	return (struct extent){op->start_ns, op->end_ns};
}

/* Counting sort of the operations by call. */
static int put_in_order(struct launched *launched)
{
	const struct profile *profile = launched->profile;
	uint32_t *first = calloc(profile->call_count + 2, sizeof(*first));
	size_t count;

	launched->first_of_call = first;
	if (!first)
		return -ENOMEM;
	for (size_t i = 0; i < profile->op_count; i++)
		if (profile->ops[i].call != PROFILE_NONE)
			first[profile->ops[i].call + 2]++;
	for (size_t i = 2; i <= profile->call_count + 1; i++)
		first[i] += first[i - 1];
	count = first[profile->call_count + 1];
	launched->order = calloc(count + 1, sizeof(*launched->order));
	launched->before_ns = calloc(count + 1, sizeof(*launched->before_ns));
	if (!launched->order || !launched->before_ns)
		return -ENOMEM;
	for (size_t i = 0; i < profile->op_count; i++) /* makes first[call + 1] the call's end */
		if (profile->ops[i].call != PROFILE_NONE)
			launched->order[first[profile->ops[i].call + 1]++] = (uint32_t)i;
	return 0;
}

static int sum_up(struct launched *launched)
{
	const struct profile *profile = launched->profile;
	size_t count = launched->first_of_call[profile->call_count];

	launched->leaf_count = count / BLOCK + 1;
	launched->tree = calloc(2 * launched->leaf_count, sizeof(*launched->tree));
	if (!launched->tree)
		return -ENOMEM;
	for (size_t i = 0; i < 2 * launched->leaf_count; i++)
		launched->tree[i] = no_extent;
	for (size_t i = 0; i < count; i++) {
		struct extent *leaf = &launched->tree[launched->leaf_count + i / BLOCK];
		struct extent extent = extent_of(launched, i);

		launched->before_ns[i + 1] = launched->before_ns[i];
		sum_add_ns(&launched->before_ns[i + 1], extent.last_ns - extent.first_ns);
		*leaf = join(*leaf, extent);
	}
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
	rc = put_in_order(launched);
	if (rc == 0)
		rc = sum_up(launched);
	if (rc < 0) {
		launched_close(launched);
		return rc;
	}
	*out = launched;
	return 0;
}

/* Of places [place, end) in order[]: single ones up to block borders, the tree between. */
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

struct launched_sum launched_by(const struct launched *launched, size_t first, size_t end)
{
	size_t from = launched->first_of_call[first], to = launched->first_of_call[end];
	struct extent extent = extent_between(launched, from, to);

	return (struct launched_sum){to - from, launched->before_ns[to] - launched->before_ns[from],
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

void launched_close(struct launched *launched)
{
	if (!launched)
		return;
	free(launched->first_of_call);
	free(launched->order);
	free(launched->before_ns);
	free(launched->tree);
	free(launched);
}
