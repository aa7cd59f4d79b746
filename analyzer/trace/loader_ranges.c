#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/loader.h"
#include "base/names/range_fold.h"
#include "base/stable_sort.h"

enum { PHASE_START = 1, PHASE_END = 2 };

/* By id, then time; a stable sort leaves a start before its end of the same nanosecond. */
static int compare_markers(const void *left, const void *right)
{
	const struct marker *a = left, *b = right;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

/* By thread, then start; of two that start together the longer, which contains the other, first. */
static int compare_ranges(const void *left, const void *right)
{
	const struct profile_range *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->end_ns < b->end_ns) - (a->end_ns > b->end_ns);
}

/* Without what PyTorch adds to the name of an operator: each of its ranges would have a name of its own.  NULL without
 * memory. */
static const char *range_name(struct loader *loader, const char *recorded)
{
	size_t length = range_operator_length(recorded);
	const char *name;
	char *copy;

	if (!recorded[length])
		return recorded;
	copy = strndup(recorded, length);
	name = copy ? strings_intern(loader->texts, copy) : NULL;
	free(copy);
	return name;
}

/* end is NULL for a range that never ended. */
static int add_range(struct process_loader *loader, const struct marker *start,
		     const struct marker *end)
{
	struct loader *all = loader->loader;
	struct profile *profile = all->profile;
	uint32_t thread = loader_thread(loader, start->thread);
	const char *name = range_name(all, start->name);
	struct profile_range *range =
		ARRAY_NEXT(profile->ranges, all->capacity.ranges, profile->range_count);

	if (!range || !name || thread == PROFILE_NONE)
		return -ENOMEM;
	*range = (struct profile_range){
		.start_ns = start->time_ns,
		.end_ns = end ? end->time_ns : profile->processes[loader->process].last_ns,
		.domain = start->domain,
		.name = name,
		.recorded_name = name == start->name ? NULL : start->name,
		.thread = thread,
		.is_push_pop = start->is_thread != 0,
		.is_open = !end,
	};
	profile->range_count++;
	return 0;
}

/* Of a part of a recording it is no damage when a range began before it. */
static bool may_begin_before(const struct process_loader *loader)
{
	const struct profile_process *process =
		&loader->loader->profile->processes[loader->process];

	return process->is_filtered || *profile_property(process, "dump_reason", "");
}

static int pair_markers(struct process_loader *loader)
{
	const struct reader_place place = {
		.process = loader->loader->profile->processes[loader->process].folder,
		.table = TRACE_TABLE_markers};
	const struct marker *markers = loader->markers;
	int rc = 0;

	for (size_t i = 0; i < loader->marker_count && rc == 0; i++) {
		bool has_end = i + 1 < loader->marker_count && markers[i + 1].id == markers[i].id &&
			       markers[i + 1].phase == PHASE_END;

		if (markers[i].phase == PHASE_END && may_begin_before(loader))
			continue;
		if (markers[i].phase == PHASE_END) {
			reader_count_loss(&loader->others.losses, READER_orphan_ids, &place,
					  "marker %u ends without a start", markers[i].id);
			continue;
		}
		rc = add_range(loader, &markers[i], has_end ? &markers[i + 1] : NULL);
		i += has_end;
	}
	return rc;
}

/* How many push and pop ranges of the same thread are around each; ranges are sorted. */
static int set_depths(struct profile_range *ranges, size_t count)
{
	size_t capacity = 0, depth = 0;
	int64_t *ends_ns = NULL;

	for (size_t i = 0; i < count; i++) {
		int64_t *end_ns;

		if (i > 0 && ranges[i].thread != ranges[i - 1].thread)
			depth = 0;
		if (!ranges[i].is_push_pop)
			continue;
		while (depth > 0 && (ends_ns[depth - 1] <= ranges[i].start_ns ||
				     ends_ns[depth - 1] < ranges[i].end_ns))
			depth--;
		ranges[i].depth = (uint32_t)depth;
		end_ns = ARRAY_NEXT(ends_ns, capacity, depth);
		if (!end_ns) {
			free(ends_ns);
			return -ENOMEM;
		}
		*end_ns = ranges[i].end_ns;
		depth++;
	}
	free(ends_ns);
	return 0;
}

int loader_add_ranges(struct process_loader *loader)
{
	struct profile *profile = loader->loader->profile;
	size_t first = profile->range_count, count;
	int rc = stable_sort(loader->markers, loader->marker_count, sizeof(*loader->markers),
			     compare_markers);

	if (rc == 0)
		rc = pair_markers(loader);
	count = profile->range_count - first;
	if (rc < 0 || count == 0)
		return rc;
	rc = stable_sort(profile->ranges + first, count, sizeof(*profile->ranges), compare_ranges);
	return rc < 0 ? rc : set_depths(profile->ranges + first, count);
}
