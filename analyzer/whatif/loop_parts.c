#include "whatif/loop_parts.h"

#include <stdlib.h>

/* What follows the last operation, such as a wait, belongs to its iteration wherever it is called: with a range
 * around what each iteration launches, the loop is all in it. */
static bool is_there(const struct loop_limits *loop_limits, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++)
		if ((i == first || submissions_count(loop_limits->submissions, i)) &&
		    !places_hold(loop_limits->places, loop_limits->place_count, i))
			return false;
	return true;
}

static bool is_free(const struct loop *loop, size_t iteration,
		    const struct loop_limits *loop_limits)
{
	const uint32_t *at = loop->iterations + iteration;

	uint8_t taken_by = loop_limits->taken_by[at[0]];

	return (!taken_by || taken_by == loop_limits->shared_by) &&
	       (!loop_limits->places || is_there(loop_limits, at[0], at[1]));
}

static struct loop cut_of(const struct loop *loop, size_t first, size_t end)
{
	struct loop part_of_loop = *loop;

	part_of_loop.iterations += first;
	part_of_loop.iteration_count = end - first;
	part_of_loop.first_call = loop->iterations[first];
	part_of_loop.call_count = loop->iterations[end] - loop->iterations[first];
	return part_of_loop;
}

bool loop_parts_next(struct loop *part_of_loop, size_t *next, const struct loop *loop,
		     const struct loop_limits *loop_limits)
{
	size_t end = *next ? *next : loop_limits->kept_count, first;

	do {
		first = end;
		while (first < loop->iteration_count && !is_free(loop, first, loop_limits))
			first++;
		end = first;
		while (end < loop->iteration_count && is_free(loop, end, loop_limits))
			end++;
	} while (end < loop->iteration_count && end - first < LOOP_PART_LEAST_ITERATIONS);
	*next = end;
	if (end < first + LOOP_PART_LEAST_ITERATIONS)
		return false;
	*part_of_loop = cut_of(loop, first, end);
	return true;
}

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	return (a->first > b->first) - (a->first < b->first);
}

size_t places_merge(struct place *places, size_t count)
{
	size_t last = 0;

	if (!count)
		return 0;
	qsort(places, count, sizeof(*places), compare_places);
	for (size_t i = 1; i < count; i++)
		if (places[i].first >= places[last].end)
			places[++last] = places[i];
		else if (places[i].end > places[last].end)
			places[last].end = places[i].end;
	return last + 1;
}
