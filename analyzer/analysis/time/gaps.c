#include "analysis/time/gaps.h"

#include "analysis/time/gap_finder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CAUSE_KEY(constant, key, title, meaning) key,
#define CAUSE_TITLE(constant, key, title, meaning) title,
#define CAUSE_MEANING(constant, key, title, meaning) meaning,
static const char *const cause_keys[] = {GAP_CAUSES(CAUSE_KEY)};
static const char *const cause_titles[] = {GAP_CAUSES(CAUSE_TITLE)};
static const char *const cause_meanings[] = {GAP_CAUSES(CAUSE_MEANING)};
#undef CAUSE_KEY
#undef CAUSE_TITLE
#undef CAUSE_MEANING

const char *gap_cause_key(enum gap_cause cause)
{
	return cause_keys[cause];
}

const char *gap_cause_title(enum gap_cause cause)
{
	return cause_titles[cause];
}

const char *gap_cause_meaning(enum gap_cause cause)
{
	return cause_meanings[cause];
}

/* ---- adding up ---- */

/* Collects one device after the other; longest is a heap with the least of the kept on top. */
struct collection {
	struct gap_analysis *gaps;
	struct gap_device *device;
	size_t keep, capacity;
	gap_visitor visit; /* NULL: nobody else */
	void *context;
};

/* Whether a is listed before b: longer first, then by place, so that reports are stable. */
static bool is_listed_before(const struct gap *a, const struct gap *b)
{
	int64_t a_ns = a->end_ns - a->start_ns, b_ns = b->end_ns - b->start_ns;

	return a_ns != b_ns ? a_ns > b_ns : a->after < b->after;
}

static int compare_listed(const void *left, const void *right)
{
	return is_listed_before(left, right) ? -1 : 1;
}

static void sift_down(struct gap *heap, size_t count, const struct gap *item)
{
	size_t i = 0;

	for (size_t child = 1; child < count; child = 2 * i + 1) {
		if (child + 1 < count && is_listed_before(&heap[child], &heap[child + 1]))
			child++;
		if (is_listed_before(&heap[child], item))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = *item;
}

static int heap_add(struct collection *collection, const struct gap *gap)
{
	struct gap_analysis *gaps = collection->gaps;
	size_t i = gaps->longest_count;

	if (i == collection->capacity) {
		size_t capacity = i ? 2 * i : 16;
		struct gap *longest = realloc(gaps->longest, capacity * sizeof(*longest));

		if (!longest)
			return -ENOMEM;
		gaps->longest = longest;
		collection->capacity = capacity;
	}
	gaps->longest_count++;
	for (; i > 0 && is_listed_before(&gaps->longest[(i - 1) / 2], gap); i = (i - 1) / 2)
		gaps->longest[i] = gaps->longest[(i - 1) / 2];
	gaps->longest[i] = *gap;
	return 0;
}

static int keep_longest(struct collection *collection, const struct gap *gap)
{
	struct gap_analysis *gaps = collection->gaps;

	if (gaps->longest_count < collection->keep)
		return heap_add(collection, gap);
	if (collection->keep && is_listed_before(gap, &gaps->longest[0]))
		sift_down(gaps->longest, gaps->longest_count, gap);
	return 0;
}

static int collect(const struct gap *gap, void *context)
{
	struct collection *collection = context;
	struct gap_device *device = collection->device;
	uint32_t left;
	int cause, rc;

	GAP_EACH_CAUSE(left, cause, gap)
	device->by_cause_ns[cause] += gap->by_cause_ns[cause];
	device->gap_count++;
	device->gap_count_by_cause[gap->cause]++;
	rc = keep_longest(collection, gap);
	return rc == 0 && collection->visit ? collection->visit(gap, collection->context) : rc;
}

static int collect_devices(struct collection *collection, const struct timeline *timeline)
{
	struct gap_analysis *gaps = collection->gaps;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < gaps->device_count; i++) {
		collection->device = &gaps->devices[i];
		collection->device->wall_ns = timeline->devices[i].wall_ns;
		collection->device->busy_ns = timeline->devices[i].busy_ns;
		collection->device->idle_ns = timeline->devices[i].idle_ns;
		rc = gap_finder_visit(gaps->finder, i, collect, collection);
	}
	return rc;
}

int gaps_analyze_by(struct gap_analysis **out, const struct profile *profile,
		    const struct gap_finder *finder, const struct timeline *timeline, size_t keep,
		    gap_visitor visit, void *context, struct err *err)
{
	struct gap_analysis *gaps = calloc(1, sizeof(*gaps));
	struct collection collection = {.gaps = gaps,
					.keep = keep,
					.visit = visit,
					.context = context};
	int rc = -ENOMEM;

	if (gaps) {
		gaps->device_count = profile->device_count;
		gaps->devices = calloc(profile->device_count + 1, sizeof(*gaps->devices));
		if (gaps->devices)
			rc = finder ? 0 : gap_finder_open(&gaps->own_finder, profile, NULL);
		gaps->finder = finder ? finder : gaps->own_finder;
		if (rc == 0)
			rc = collect_devices(&collection, timeline);
	}
	if (rc < 0) {
		gaps_free(gaps);
		return err_set(err, rc, "out of memory for the gaps of the timeline");
	}
	if (gaps->longest_count)
		qsort(gaps->longest, gaps->longest_count, sizeof(*gaps->longest), compare_listed);
	*out = gaps;
	return 0;
}

int gaps_analyze(struct gap_analysis **out, const struct profile *profile,
		 const struct timeline *timeline, size_t keep, struct err *err)
{
	return gaps_analyze_by(out, profile, NULL, timeline, keep, NULL, NULL, err);
}

int gaps_visit(const struct gap_analysis *gaps, size_t device, gap_visitor visit, void *context)
{
	return gap_finder_visit(gaps->finder, device, visit, context);
}

void gaps_free(struct gap_analysis *gaps)
{
	if (!gaps)
		return;
	gap_finder_close(gaps->own_finder);
	free(gaps->devices);
	free(gaps->longest);
	free(gaps);
}
