#include "replay/call_times.h"

#include <errno.h>
#include <stdlib.h>

#include "base/ns.h"

int call_times_open(struct call_times *times, const struct profile *profile)
{
	*times = (struct call_times){
		.profile = profile,
		.items = malloc((profile->call_count + 1) * sizeof(*times->items)),
		.threads = calloc(profile->thread_count + 1, sizeof(*times->threads)),
		.is_whole = true,
	};
	return times->items && times->threads ? 0 : -ENOMEM;
}

void call_times_free(struct call_times *times)
{
	free(times->items);
	free(times->threads);
	*times = (struct call_times){0};
}

static bool fits(int64_t ns)
{
	return ns >= 0 && ns <= UINT32_MAX;
}

void call_times_add(struct call_times *times, uint32_t thread, size_t call, int64_t start_ns,
		    int64_t end_ns, int64_t work_end_ns)
{
	struct call_progress *last = &times->threads[thread];
	int64_t over_ns = max_ns(end_ns, work_end_ns) - start_ns, since_ns;

	if (call == times->profile->threads[thread].first_call)
		*last = (struct call_progress){start_ns, start_ns, start_ns};
	since_ns = start_ns - last->start_ns;
	times->is_whole = times->is_whole && fits(since_ns) && fits(over_ns) &&
			  start_ns >= last->end_ns && end_ns >= start_ns;
	times->items[call] = (struct call_time){(uint32_t)since_ns, (uint32_t)over_ns};
	last->start_ns = start_ns;
	last->end_ns = end_ns;
}

/* Of a part the last call ends after those before it: where it counts that each of them has ended they may take the end
 * of what they submitted for their own. */
void call_times_tell(const struct call_times *times, struct part_time *part_time)
{
	for (size_t i = 0; i < times->profile->thread_count; i++) {
		const struct profile_thread *thread = &times->profile->threads[i];
		int64_t start_ns = times->threads[i].first_ns;

		for (size_t j = thread->first_call; j < thread->first_call + thread->call_count;
		     j++) {
			int64_t over_ns =
				start_ns + times->items[j].since_ns + times->items[j].over_ns;

			start_ns += times->items[j].since_ns;
			part_time_add_call(part_time, (uint32_t)i, j, start_ns, over_ns, over_ns);
		}
	}
}
