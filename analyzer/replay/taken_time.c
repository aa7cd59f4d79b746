#include "replay/taken_time.h"

#include <string.h>

#include "base/ns.h"

#define WHOLE_GPU 100 /* percent */

void taken_time_open(struct taken_time *taken)
{
	taken->count = 0;
	taken->floor_ns = INT64_MIN;
}

/* The last step that begins by then; taken->count where all begin later. */
static size_t step_at(const struct taken_time *taken, int64_t moment_ns)
{
	size_t i = taken->count;

	while (i > 0 && taken->steps[i - 1].from_ns > moment_ns)
		i--;
	return i ? i - 1 : taken->count;
}

int64_t taken_time_find(const struct taken_time *taken, int64_t start_ns, int64_t length_ns,
			unsigned int percent)
{
	size_t i;

	start_ns = max_ns(start_ns, taken->floor_ns);
	i = step_at(taken, start_ns);
	if (i == taken->count)
		i = 0; /* what comes later may begin too early */
	for (; i < taken->count; i++) {
		if (taken->steps[i].from_ns >= start_ns + length_ns)
			break;
		if (taken->steps[i].percent + percent > WHOLE_GPU && i + 1 < taken->count)
			start_ns = max_ns(start_ns, taken->steps[i + 1].from_ns);
	}
	return start_ns;
}

static void drop_steps(struct taken_time *taken, size_t count)
{
	taken->count -= count;
	memmove(taken->steps, taken->steps + count, taken->count * sizeof(*taken->steps));
}

void taken_time_forget(struct taken_time *taken, int64_t moment_ns)
{
	size_t first = step_at(taken, moment_ns);

	taken->floor_ns = max_ns(taken->floor_ns, moment_ns);
	if (first < taken->count)
		drop_steps(taken, first);
}

/* A step that begins exactly then.  Returns its place. */
static size_t add_step(struct taken_time *taken, int64_t moment_ns)
{
	size_t i = step_at(taken, moment_ns), at = i == taken->count ? 0 : i + 1;
	unsigned int percent = i == taken->count ? 0 : taken->steps[i].percent;

	if (i < taken->count && taken->steps[i].from_ns == moment_ns)
		return i;
	memmove(taken->steps + at + 1, taken->steps + at,
		(taken->count - at) * sizeof(*taken->steps));
	taken->steps[at].from_ns = moment_ns;
	taken->steps[at].percent = percent;
	taken->count++;
	return at;
}

void taken_time_add(struct taken_time *taken, int64_t start_ns, int64_t end_ns,
		    unsigned int percent)
{
	size_t first, end;

	if (taken->count + 2 > TAKEN_STEPS)
		taken_time_forget(taken, taken->steps[TAKEN_STEPS / 4].from_ns);
	start_ns = max_ns(start_ns, taken->floor_ns);
	if (end_ns <= start_ns)
		return;
	first = add_step(taken, start_ns);
	end = add_step(taken, end_ns);
	for (size_t i = first; i < end; i++)
		taken->steps[i].percent += percent;
}
