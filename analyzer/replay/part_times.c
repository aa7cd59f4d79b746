#include "replay/part_times.h"

#include <errno.h>
#include <stdlib.h>

#include "base/ns.h"
#include "base/search.h"

struct call_in_places {
	const struct place *places;
	size_t call;
};

static bool ends_behind(size_t index, const void *context)
{
	const struct call_in_places *look = context;

	return look->places[index].end > look->call;
}

size_t places_find(const struct place *places, size_t count, size_t call)
{
	return search_first(0, count, ends_behind, &(struct call_in_places){places, call});
}

bool places_hold(const struct place *places, size_t count, size_t call)
{
	size_t next = places_find(places, count, call);

	return next < count && places[next].first <= call;
}

int part_time_open(struct part_time *part_time, const struct place *places, size_t count,
		   const struct profile *profile)
{
	size_t next = 0;

	*part_time = (struct part_time){.places = places, .count = count};
	part_time->progress = calloc(profile->thread_count + 1, sizeof(*part_time->progress));
	part_time->spans = (struct spans){.items = malloc((count + 1) * sizeof(struct span)),
					  .capacity = count + 1};
	if (!part_time->progress || !part_time->spans.items)
		return -ENOMEM;
	for (size_t i = 0; i < profile->thread_count; i++) {
		while (next < count && places[next].end <= profile->threads[i].first_call)
			next++;
		part_time->progress[i].next = next;
	}
	return 0;
}

void part_time_free(struct part_time *part_time)
{
	free(part_time->progress);
	spans_free(&part_time->spans);
	*part_time = (struct part_time){0};
}

void part_time_add_within(struct part_time *part_time, uint32_t thread, size_t call,
			  int64_t start_ns, int64_t end_ns, int64_t work_end_ns)
{
	struct part_progress *progress = &part_time->progress[thread];
	const struct place *place = &part_time->places[progress->next];

	if (call == place->first) {
		progress->start_ns = start_ns;
		progress->end_ns = INT64_MIN;
	}
	progress->end_ns = max_ns(progress->end_ns, work_end_ns);
	if (call + 1 == place->end) {
		(void)spans_add(&part_time->spans, progress->start_ns,
				max_ns(progress->end_ns, end_ns)); /* there is room for all */
		progress->next++;
	}
}

int64_t part_time_ns(struct part_time *part_time)
{
	const struct spans *spans = &part_time->spans;
	const struct span *last;

	spans_seal(&part_time->spans);
	if (!spans->count)
		return 0;
	last = &spans->items[spans->count - 1];
	return last->before_ns + last->end_ns - last->start_ns;
}
