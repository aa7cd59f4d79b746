#include "replay/untraced_launches.h"

#include <errno.h>
#include <stdlib.h>

#include "base/ns.h"
#include "base/search.h"

/* Fewer launches of a kind tell nothing. */
#define LEAST_LAUNCHES 8

static enum profile_call_class class_of(const struct profile *profile, uint32_t call)
{
	return profile->call_names[profile->calls[call].name].call_class;
}

static int compare_launches(const void *left, const void *right)
{
	const struct untraced_launch *a = left, *b = right;

	if (a->call_class != b->call_class)
		return a->call_class > b->call_class ? 1 : -1;
	if (a->op_count != b->op_count)
		return a->op_count > b->op_count ? 1 : -1;
	return (a->added_ns > b->added_ns) - (a->added_ns < b->added_ns);
}

/* From a launch to the next call of its thread, which was watched as well. */
static bool is_followed(const struct profile *profile, size_t i)
{
	const struct profile_untraced_call *call = &profile->untraced_calls[i];

	return i + 1 < profile->untraced_call_count && call[1].call == call->call + 1 &&
	       profile->calls[call->call].thread == profile->calls[call->call + 1].thread &&
	       class_of(profile, call->call) != CALL_SYNC;
}

static int64_t longer_ns(const struct profile *profile, const struct profile_untraced_call *call)
{
	int64_t recorded_ns =
		profile->calls[call[1].call].start_ns - profile->calls[call->call].start_ns;

	return recorded_ns - (call[1].start_ns - call->start_ns);
}

/* A time in which the system did something else, in one of the runs. */
#define OUTLIER_SHARE 0.05

/* Of launches in order of what is added: the mean, which gives the time of the whole, but for outliers. */
static int64_t usual_added_ns(const struct untraced_launch *items, size_t count)
{
	size_t outlier_count = (size_t)(OUTLIER_SHARE * (double)count);
	double sum_ns = 0;

	for (size_t i = outlier_count; i < count - outlier_count; i++)
		sum_ns += (double)items[i].added_ns;
	return max_ns((int64_t)(sum_ns / (double)(count - 2 * outlier_count)), 0);
}

/* Of launches of one kind, which lie in order of what is added: one, with what is usual. */
static size_t keep_usual(struct untraced_launch *items, size_t count)
{
	size_t kept = 0, end;

	for (size_t first = 0; first < count; first = end) {
		struct untraced_launch usual;

		for (end = first + 1; end < count &&
				      items[end].call_class == items[first].call_class &&
				      items[end].op_count == items[first].op_count;)
			end++;
		usual = items[first];
		usual.added_ns = usual_added_ns(items + first, end - first);
		if (end - first >= LEAST_LAUNCHES)
			items[kept++] = usual;
	}
	return kept;
}

int untraced_launches_find(struct untraced_launches *out, const struct profile *profile,
			   const struct submissions *submissions)
{
	size_t count = 0;

	*out = (struct untraced_launches){0};
	if (!profile->untraced_call_count)
		return 0;
	out->items = malloc(profile->untraced_call_count * sizeof(*out->items));
	if (!out->items)
		return -ENOMEM;
	for (size_t i = 0; i < profile->untraced_call_count; i++)
		if (is_followed(profile, i)) {
			const struct profile_untraced_call *call = &profile->untraced_calls[i];

			out->items[count++] = (struct untraced_launch){
				.call_class = class_of(profile, call->call),
				.op_count = submissions_count(submissions, call->call),
				.added_ns = longer_ns(profile, call)};
		}
	qsort(out->items, count, sizeof(*out->items), compare_launches);
	out->count = keep_usual(out->items, count);
	return 0;
}

void untraced_launches_free(struct untraced_launches *launches)
{
	free(launches->items);
	*launches = (struct untraced_launches){0};
}

struct lookup {
	const struct untraced_launches *launches;
	struct untraced_launch wanted;
};

static bool is_not_before(size_t index, const void *context)
{
	const struct lookup *lookup = context;
	const struct untraced_launch *item = &lookup->launches->items[index];
	const struct untraced_launch *wanted = &lookup->wanted;

	return item->call_class > wanted->call_class ||
	       (item->call_class == wanted->call_class && item->op_count >= wanted->op_count);
}

int64_t untraced_added_ns(const struct untraced_launches *launches,
			  enum profile_call_class call_class, uint32_t op_count)
{
	const struct lookup lookup = {launches, {.call_class = call_class, .op_count = op_count}};
	size_t i = search_first(0, launches->count, is_not_before, &lookup);

	return i < launches->count && launches->items[i].call_class == lookup.wanted.call_class &&
			       launches->items[i].op_count == op_count
		       ? launches->items[i].added_ns
		       : -1;
}
