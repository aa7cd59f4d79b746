/* bayesian.c - the point where a Gaussian process expects most improvement. */
#include "tune/expected.h"
#include "tune/gaussian.h"
#include "tune/search.h"

size_t tune_search_bayesian(struct tune_task *task)
{
	struct gaussian gaussian = {.space = task->history->space};
	struct expected expected;
	size_t point;

	if (task->history->count < expected_first_count(task))
		return tune_pick_spread(task);
	if (expected_fit(&gaussian, task) < 0)
		point = tune_pick_spread(task);
	else
		point = expected_best(&expected, &gaussian, task) ? expected.point
								  : tune_pick_spread(task);
	gaussian_free(&gaussian);
	return point;
}
