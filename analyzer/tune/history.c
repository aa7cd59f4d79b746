/* history.c - what was tried so far. */
#include "tune/history.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"

int tune_history_open(struct tune_history *history, const struct tune_space *space,
		      bool is_maximized)
{
	*history = (struct tune_history){.space = space, .is_maximized = is_maximized};
	history->is_tried = calloc(space->point_count, sizeof(*history->is_tried));
	return history->is_tried ? 0 : -ENOMEM;
}

int tune_history_add(struct tune_history *history, const struct tune_trial *trial)
{
	struct tune_trial *added = ARRAY_NEXT(history->trials, history->capacity, history->count);

	if (!added)
		return -ENOMEM;
	*added = *trial;
	history->count++;
	history->is_tried[trial->point] = true;
	return 0;
}

void tune_history_free(struct tune_history *history)
{
	free(history->trials);
	free(history->is_tried);
	*history = (struct tune_history){0};
}

bool tune_is_better(const struct tune_history *history, double a, double b)
{
	return history->is_maximized ? a > b : a < b;
}

const struct tune_trial *tune_history_best(const struct tune_history *history, size_t count)
{
	const struct tune_trial *best = NULL;

	for (size_t i = 0; i < count && i < history->count; i++) {
		const struct tune_trial *trial = &history->trials[i];

		if (trial->status == TUNE_OK &&
		    (!best || tune_is_better(history, trial->value, best->value)))
			best = trial;
	}
	return best;
}

size_t tune_history_ok_count(const struct tune_history *history)
{
	size_t count = 0;

	for (size_t i = 0; i < history->count; i++)
		count += history->trials[i].status == TUNE_OK;
	return count;
}

/* By what values are divided where there is no logarithm of them; 0: there is. */
static double linear_scale(const struct tune_history *history)
{
	double low = INFINITY, high = -INFINITY;

	for (size_t i = 0; i < history->count; i++)
		if (history->trials[i].status == TUNE_OK) {
			low = fmin(low, history->trials[i].value);
			high = fmax(high, history->trials[i].value);
		}
	if (low > 0)
		return 0;
	return high > low ? high - low : 1;
}

void tune_history_costs(const struct tune_history *history, double *costs)
{
	double scale = linear_scale(history), worst = -INFINITY;

	for (size_t i = 0; i < history->count; i++) {
		double value = history->trials[i].value;

		if (history->trials[i].status != TUNE_OK)
			continue;
		costs[i] = scale > 0 ? value / scale : log(value);
		if (history->is_maximized)
			costs[i] = -costs[i];
		worst = fmax(worst, costs[i]);
	}
	for (size_t i = 0; i < history->count; i++)
		if (history->trials[i].status != TUNE_OK)
			costs[i] = isfinite(worst) ? worst : 0;
}

const char *tune_status_name(enum tune_status status)
{
#define STATUS_NAME(constant, name, meaning) name,
	static const char *const names[] = {TUNE_STATUSES(STATUS_NAME)};
#undef STATUS_NAME

	return names[status];
}
