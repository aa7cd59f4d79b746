/* search.c - the table of searches, and what they have in common. */
#include "tune/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct tune_search_kind tune_searches[] = {
#define SEARCH_ROW(name, summary) {#name, summary, tune_search_##name},
	TUNE_SEARCHES(SEARCH_ROW)
#undef SEARCH_ROW
		{0},
};

const struct tune_search_kind *tune_search_find(const char *name)
{
	for (const struct tune_search_kind *kind = tune_searches; kind->name; kind++)
		if (!strcmp(kind->name, name))
			return kind;
	return NULL;
}

/* The first numbers of seeds next to each other are alike: these are not used. */
void tune_seed(struct tune_task *task, uint32_t seed)
{
	task->random[0] = 0x330E;
	task->random[1] = (unsigned short)seed;
	task->random[2] = (unsigned short)(seed >> 16);
	for (int i = 0; i < 16; i++)
		erand48(task->random);
}

size_t tune_draw(struct tune_task *task, size_t count)
{
	return (size_t)(erand48(task->random) * (double)count);
}

bool tune_is_open(const struct tune_task *task, size_t point)
{
	return !task->history->is_tried[point] &&
	       !(task->is_impossible && task->is_impossible[point]);
}

size_t tune_pick_random(struct tune_task *task)
{
	size_t point_count = task->history->space->point_count, open = 0, chosen;

	for (size_t i = 0; i < point_count; i++)
		open += tune_is_open(task, i);
	if (!open)
		return TUNE_NO_POINT;
	chosen = tune_draw(task, open);
	for (size_t i = 0; i < point_count; i++)
		if (tune_is_open(task, i) && chosen-- == 0)
			return i;
	return TUNE_NO_POINT;
}

/* How often its values were tried, summed over parameters. */
static size_t count_tried_values(const struct tune_history *history, size_t point)
{
	const struct tune_space *space = history->space;
	size_t sum = 0;

	for (size_t i = 0; i < space->parameter_count; i++)
		for (size_t j = 0; j < history->count; j++)
			sum += tune_space_level(space, history->trials[j].point, i) ==
			       tune_space_level(space, point, i);
	return sum;
}

static double distance_to_tried(const struct tune_history *history, size_t point)
{
	const struct tune_space *space = history->space;
	double least = INFINITY;

	for (size_t j = 0; j < history->count; j++) {
		double sum = 0;

		for (size_t i = 0; i < space->parameter_count; i++) {
			double one = tune_space_distance(space, i, point, history->trials[j].point);

			sum += one * one;
		}
		least = fmin(least, sum);
	}
	return least;
}

size_t tune_pick_spread(struct tune_task *task)
{
	enum { CANDIDATES = 100 };
	size_t best = tune_pick_random(task);

	if (best == TUNE_NO_POINT)
		return best;
	for (int i = 0; i < CANDIDATES; i++) {
		size_t point = tune_pick_random(task);
		size_t tried = count_tried_values(task->history, point);
		size_t best_tried = count_tried_values(task->history, best);

		if (tried < best_tried ||
		    (tried == best_tried && distance_to_tried(task->history, point) >
						    distance_to_tried(task->history, best)))
			best = point;
	}
	return best;
}
