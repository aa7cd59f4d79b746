#include "advice/cuts.h"

#include <stdlib.h>

static bool is_in_place(const struct cutting *cutting, size_t call)
{
	size_t low = 0, high = cutting->place_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (cutting->places[middle].end <= call)
			low = middle + 1;
		else
			high = middle;
	}
	return low < cutting->place_count && cutting->places[low].first <= call;
}

/* What follows the last operation, such as a wait, belongs to its iteration wherever it is called: with a range
 * around what each iteration launches, the loop is all in it. */
static bool is_there(const struct cutting *cutting, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++)
		if ((i == first || submitted_count(cutting->submitted, i)) &&
		    !is_in_place(cutting, i))
			return false;
	return true;
}

static bool is_free(const struct sequence *loop, size_t iteration, const struct cutting *cutting)
{
	const uint32_t *at = loop->iterations + iteration;

	return !cutting->is_taken[at[0]] && (!cutting->places || is_there(cutting, at[0], at[1]));
}

static struct sequence cut_of(const struct sequence *loop, size_t first, size_t end)
{
	struct sequence cut = *loop;

	cut.iterations += first;
	cut.iteration_count = end - first;
	cut.first_call = loop->iterations[first];
	cut.call_count = loop->iterations[end] - loop->iterations[first];
	return cut;
}

bool cuts_next(struct sequence *cut, size_t *next, const struct sequence *loop,
	       const struct cutting *cutting)
{
	size_t end = *next ? *next : 1, first;

	do {
		first = end;
		while (first < loop->iteration_count && !is_free(loop, first, cutting))
			first++;
		end = first;
		while (end < loop->iteration_count && is_free(loop, end, cutting))
			end++;
	} while (end < loop->iteration_count && end - first < CUT_LEAST_ITERATIONS);
	*next = end;
	if (end < first + CUT_LEAST_ITERATIONS)
		return false;
	*cut = cut_of(loop, first, end);
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
