/*
 * genetic.c - the best points are crossed and changed a little.
 *
 * There are no generations: each child joins those that were tried, and the best fifth of these are the parents, at
 * least two.  With generations of 50, as textbooks have them, a space of 80 points would be half tried before
 * the first selection.
 */
#include <stdlib.h>

#include "tune/search.h"

#define MOST_FIRST 50 /* points by chance before there are children */
#define LEAST_FIRST 4
#define LEAST_PARENTS 2
#define MUTATION 0.1 /* of each parameter */
#define ATTEMPTS 50  /* at a child that was not tried yet */

struct ranked {
	size_t point;
	double cost;
};

static int by_cost(const void *a, const void *b)
{
	const struct ranked *left = a, *right = b;

	if (left->cost != right->cost)
		return left->cost < right->cost ? -1 : 1;
	return left->point < right->point ? -1 : left->point > right->point;
}

/* All that were tried, best first; NULL without memory. */
static struct ranked *rank(const struct tune_history *history)
{
	struct ranked *all = calloc(history->count + 1, sizeof(*all));
	double *costs = calloc(history->count + 1, sizeof(*costs));

	if (all && costs) {
		tune_history_costs(history, costs);
		for (size_t i = 0; i < history->count; i++)
			all[i] = (struct ranked){history->trials[i].point, costs[i]};
		qsort(all, history->count, sizeof(*all), by_cost);
	}
	free(costs);
	return all;
}

/* The better one of two. */
static size_t tournament(struct tune_task *task, size_t count)
{
	size_t a = tune_draw(task, count), b = tune_draw(task, count);

	return a < b ? a : b;
}

/* A number goes one value up or down, a text to any other. */
static void mutate(struct tune_task *task, size_t parameter, size_t *levels)
{
	const struct tune_parameter *of = &task->history->space->parameters[parameter];
	size_t *level = &levels[parameter];

	if (of->count < 2)
		return;
	if (!of->is_number)
		*level = (*level + 1 + tune_draw(task, of->count - 1)) % of->count;
	else if (*level == 0 || (*level + 1 < of->count && tune_draw(task, 2)))
		++*level;
	else
		--*level;
}

static size_t make_child(struct tune_task *task, const struct ranked *parents, size_t count)
{
	const struct tune_space *space = task->history->space;
	size_t a = parents[tournament(task, count)].point,
	       b = parents[tournament(task, count)].point;
	size_t levels[TUNE_MOST_PARAMETERS];

	for (size_t i = 0; i < space->parameter_count; i++) {
		levels[i] = tune_space_level(space, tune_draw(task, 2) ? a : b, i);
		if (erand48(task->random) < MUTATION)
			mutate(task, i, levels);
	}
	/* Parents alike have a child alike, which tells nothing. */
	if (tune_space_find(space, levels) == a || tune_space_find(space, levels) == b)
		mutate(task, tune_draw(task, space->parameter_count), levels);
	return tune_space_find(space, levels);
}

size_t tune_search_genetic(struct tune_task *task)
{
	size_t first = task->most_trials / 3, parent_count = task->history->count / 5;
	struct ranked *all;
	size_t child = TUNE_NO_POINT;

	first = first > MOST_FIRST ? MOST_FIRST : first < LEAST_FIRST ? LEAST_FIRST : first;
	if (task->history->count < first)
		return tune_pick_spread(task);
	parent_count = parent_count < LEAST_PARENTS ? LEAST_PARENTS : parent_count;
	all = rank(task->history);
	if (!all)
		return TUNE_NO_POINT;
	for (int i = 0; i < ATTEMPTS; i++) {
		child = make_child(task, all, parent_count);
		if (child != TUNE_NO_POINT && tune_is_open(task, child))
			break;
		child = TUNE_NO_POINT;
	}
	free(all);
	return child == TUNE_NO_POINT ? tune_pick_random(task) : child;
}
