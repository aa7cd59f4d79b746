#include "model/stopwatch.h"

#include <errno.h>
#include <stdlib.h>

#include "base/ns.h"

int stopwatch_open(struct stopwatch *watch, const struct place *places, size_t count,
		   const struct profile *profile)
{
	size_t next = 0;

	*watch = (struct stopwatch){.places = places, .count = count};
	watch->hands = calloc(profile->thread_count + 1, sizeof(*watch->hands));
	if (!watch->hands)
		return -ENOMEM;
	for (size_t i = 0; i < profile->thread_count; i++) {
		while (next < count && places[next].end <= profile->threads[i].first_call)
			next++;
		watch->hands[i].next = next;
	}
	return 0;
}

void stopwatch_free(struct stopwatch *watch)
{
	free(watch->hands);
	*watch = (struct stopwatch){0};
}

void stopwatch_take(struct stopwatch *watch, uint32_t thread, size_t call, int64_t start_ns,
		    int64_t end_ns, int64_t work_end_ns)
{
	struct stopwatch_hand *hand = &watch->hands[thread];
	const struct place *place = &watch->places[hand->next];

	if (hand->next == watch->count || call < place->first)
		return;
	if (call == place->first) {
		hand->start_ns = start_ns;
		hand->end_ns = INT64_MIN;
	}
	hand->end_ns = max_ns(hand->end_ns, work_end_ns);
	if (call + 1 == place->end) {
		watch->sum_ns += max_ns(hand->end_ns, end_ns) - hand->start_ns;
		hand->next++;
	}
}
