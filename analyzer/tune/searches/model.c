/*
 * model.c - predicts the time of points that were not tried, and tries only those that may be the best.
 *
 * A Gaussian process again, with more to go by: each parameter has an effect of its own, about a parabola, and what
 * follows for each point from the launches that were recorded (launch.h): occupancy, and how full the last wave of blocks is.
 * It stops when no point can be better than the best one by more than the noise, or the best one is at the roof.  That
 * parameters have effects of their own makes it sure of points that it never tried, and where that is not so it would
 * stop too early: so a process without that has to find nothing either.
 */
#include <math.h>
#include <stdlib.h>

#include "tune/expected.h"
#include "tune/gaussian.h"
#include "tune/search.h"

/* How much of the last wave is there: 1.5 waves take as long as 2. */
static double wave_fill(double waves)
{
	return waves > 0 ? waves / ceil(waves) : 1;
}

/* NULL: nothing is known of launches, or memory ran out. */
static double *launch_facts(const struct tune_task *task)
{
	size_t count = task->history->space->point_count;
	struct tune_launches launches = {0};
	double *facts = NULL;

	if (tune_launches_predict(&launches, task->history, task->device) == 0 && launches.points)
		facts = calloc(count * GAUSSIAN_LAUNCH_FACTS, sizeof(*facts));
	for (size_t i = 0; facts && i < count; i++) {
		const struct tune_launch *launch = &launches.points[i];

		facts[i * GAUSSIAN_LAUNCH_FACTS] =
			launch->occupancy > 0 ? log(launch->occupancy) : 0;
		facts[i * GAUSSIAN_LAUNCH_FACTS + 1] = log(wave_fill(launch->waves));
	}
	tune_launches_free(&launches);
	return facts;
}

/* Whether the best trial is within the noise of what no point can beat. */
static bool is_at_roof(const struct tune_task *task)
{
	const struct tune_trial *best = tune_history_best(task->history, task->history->count);

	if (!best || !(task->least_value > 0) || task->history->is_maximized)
		return false;
	return best->value <= task->least_value * (1 + task->noise);
}

/* Whether no open point is better than the best trial by more than the noise. */
static bool is_done(const struct expected *expected, const struct tune_task *task)
{
	return expected->least_cost > expected->best_cost - task->noise &&
	       tune_history_ok_count(task->history) > task->history->space->dimension_count + 2;
}

static size_t choose(struct tune_task *task, struct gaussian *gaussian)
{
	struct expected expected;

	if (expected_fit(gaussian, task) < 0)
		return tune_pick_spread(task);
	if (!expected_best(&expected, gaussian, task))
		return TUNE_NO_POINT;
	return is_done(&expected, task) ? TUNE_NO_POINT : expected.point;
}

size_t tune_search_model(struct tune_task *task)
{
	struct gaussian gaussian = {.space = task->history->space, .has_trend = true};
	struct gaussian plain = {.space = task->history->space};
	double *facts;
	size_t point;

	if (is_at_roof(task))
		return TUNE_NO_POINT;
	if (task->history->count < expected_first_count(task))
		return tune_pick_spread(task);
	facts = launch_facts(task);
	gaussian.launch_facts = facts;
	point = choose(task, &gaussian);
	gaussian_free(&gaussian);
	if (point == TUNE_NO_POINT)
		point = choose(task, &plain);
	gaussian_free(&plain);
	free(facts);
	return point;
}
