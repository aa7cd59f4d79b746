/* expected.c - expected improvement (Jones, Schonlau and Welch 1998). */
#include "tune/expected.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define MOST_FIRST 10
#define LEAST_FIRST 3

size_t expected_first_count(const struct tune_task *task)
{
	size_t count = task->most_trials / 4;

	return count > MOST_FIRST ? MOST_FIRST : count < LEAST_FIRST ? LEAST_FIRST : count;
}

static double best_cost(const struct tune_history *history)
{
	double *costs = calloc(history->count, sizeof(*costs)), best = INFINITY;

	if (!costs)
		return best;
	tune_history_costs(history, costs);
	for (size_t i = 0; i < history->count; i++)
		best = fmin(best, costs[i]);
	free(costs);
	return best;
}

/* Whether a bad point takes three or sixty times as long tells nothing of the good ones: differences of far more than
 * 30% from the best are made small. */
#define FLAT 0.3

static double flatten(double cost, double best)
{
	return best + FLAT * log1p((cost - best) / FLAT);
}

/* Trials that failed tell nothing of how long those that work take. */
int expected_fit(struct gaussian *gaussian, const struct tune_task *task)
{
	const struct tune_history *history = task->history;
	size_t *points = calloc(history->count + 1, sizeof(*points)), count = 0;
	double *costs = calloc(history->count + 1, sizeof(*costs));
	double best = best_cost(history);
	int rc = points && costs ? 0 : -ENOMEM;

	if (rc == 0)
		tune_history_costs(history, costs);
	for (size_t i = 0; rc == 0 && i < history->count; i++)
		if (history->trials[i].status == TUNE_OK) {
			points[count] = history->trials[i].point;
			costs[count++] = flatten(costs[i], best);
		}
	if (rc == 0)
		rc = count < 2 ? -EDOM : gaussian_fit(gaussian, points, costs, count);
	free(points);
	free(costs);
	return rc;
}

/* How likely it works: for each of its values, what share of the trials with that value did, as if half a one more had.  The
 * worst of them counts. */
static double chance_to_work(const struct tune_history *history, size_t point)
{
	const struct tune_space *space = history->space;
	double least = 1;

	for (size_t i = 0; i < space->parameter_count; i++) {
		double all = 0.5, worked = 0.5;

		for (size_t j = 0; j < history->count; j++) {
			const struct tune_trial *trial = &history->trials[j];

			if (tune_space_level(space, trial->point, i) !=
			    tune_space_level(space, point, i))
				continue;
			all++;
			worked += trial->status == TUNE_OK;
		}
		least = fmin(least, worked / all);
	}
	return least;
}

static double improvement(double best, double mean, double deviation)
{
	double off = best - mean, by;

	if (!(deviation > 0))
		return fmax(off, 0);
	by = off / deviation;
	return off * erfc(-by * M_SQRT1_2) / 2 + deviation * exp(-by * by / 2) / sqrt(2 * M_PI);
}

bool expected_best(struct expected *expected, const struct gaussian *gaussian,
		   const struct tune_task *task)
{
	*expected = (struct expected){.point = TUNE_NO_POINT,
				      .improvement = -1,
				      .best_cost = best_cost(task->history),
				      .least_cost = INFINITY};
	for (size_t point = 0; point < task->history->space->point_count; point++) {
		double mean, deviation, gain;

		if (!tune_is_open(task, point))
			continue;
		gaussian_predict(gaussian, point, &mean, &deviation);
		gain = improvement(expected->best_cost, mean, deviation) *
		       chance_to_work(task->history, point);
		expected->least_cost = fmin(expected->least_cost, mean - 3 * deviation);
		if (gain <= expected->improvement)
			continue;
		expected->point = point;
		expected->improvement = gain;
		expected->mean = mean;
		expected->deviation = deviation;
	}
	return expected->point != TUNE_NO_POINT;
}
