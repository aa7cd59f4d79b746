#include "replay/call_times.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/ns.h"

/* Of a number of 64 bits, 7 of them each. */
#define NUMBER_BYTES_MOST 10

int call_times_open(struct call_times *times, const struct profile *profile)
{
	*times = (struct call_times){
		.profile = profile,
		.threads = calloc(profile->thread_count + 1, sizeof(*times->threads)),
		.is_whole = true,
	};
	return times->threads ? 0 : -ENOMEM;
}

void call_times_free(struct call_times *times)
{
	for (size_t i = 0; times->threads && i < times->profile->thread_count; i++)
		free(times->threads[i].bytes);
	free(times->threads);
	*times = (struct call_times){0};
}

static void put(struct thread_times *thread, int64_t ns)
{
	uint64_t rest = (uint64_t)ns;

	for (; rest > 0x7f; rest >>= 7)
		thread->bytes[thread->byte_count++] = (uint8_t)(rest | 0x80);
	thread->bytes[thread->byte_count++] = (uint8_t)rest;
}

static int64_t take(const uint8_t **next)
{
	uint64_t ns = 0;
	unsigned int shift = 0;

	for (; **next & 0x80; shift += 7)
		ns |= (uint64_t)(*(*next)++ & 0x7f) << shift;
	return (int64_t)(ns | (uint64_t) * (*next)++ << shift);
}

static bool make_room(struct thread_times *thread)
{
	uint8_t *bytes = array_reserve(thread->bytes, &thread->capacity,
				       thread->byte_count + 2 * NUMBER_BYTES_MOST, 1);

	if (bytes)
		thread->bytes = bytes;
	return bytes;
}

void call_times_add(struct call_times *times, uint32_t thread, size_t call, int64_t start_ns,
		    int64_t end_ns, int64_t work_end_ns)
{
	struct thread_times *own = &times->threads[thread];
	int64_t over_ns = max_ns(end_ns, work_end_ns) - start_ns;

	if (call == times->profile->threads[thread].first_call)
		own->first_ns = own->start_ns = own->end_ns = start_ns;
	times->is_whole =
		times->is_whole && start_ns >= own->end_ns && end_ns >= start_ns && make_room(own);
	if (!times->is_whole)
		return;
	put(own, start_ns - own->start_ns);
	put(own, over_ns);
	own->start_ns = start_ns;
	own->end_ns = end_ns;
}

/* Of a part the last call ends after those before it: where it counts that each of them has ended they may take the end
 * of what they submitted for their own. */
void call_times_tell(const struct call_times *times, struct part_time *part_time)
{
	for (size_t i = 0; i < times->profile->thread_count; i++) {
		const struct profile_thread *thread = &times->profile->threads[i];
		const uint8_t *next = times->threads[i].bytes;
		int64_t start_ns = times->threads[i].first_ns;

		for (size_t j = thread->first_call; j < thread->first_call + thread->call_count;
		     j++) {
			int64_t over_ns;

			start_ns += take(&next);
			over_ns = start_ns + take(&next);
			part_time_add_call(part_time, (uint32_t)i, j, start_ns, over_ns, over_ns);
		}
	}
}
