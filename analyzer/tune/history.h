/*
 * history.h - what was tried so far, in order, and how it went.
 */
#ifndef ROOFLINE_TUNE_HISTORY_H
#define ROOFLINE_TUNE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "tune/launch.h"
#include "tune/space.h"

/* STATUS(constant, name, what it means) */
#define TUNE_STATUSES(STATUS)                                                                \
	STATUS(OK, "ok", "it was measured")                                                  \
	STATUS(FAILED, "failed", "the program ended with an error")                          \
	STATUS(TIMED_OUT, "timed_out", "the program took longer than --trial-timeout")       \
	STATUS(NO_VALUE, "no_value", "the program ended well, but the objective is missing") \
	STATUS(NOT_STORED, "not_stored", "--from has no measurement of it")                  \
	STATUS(IMPOSSIBLE, "impossible", "the hardware cannot launch it: it was not run")

#define TUNE_STATUS_CONSTANT(constant, name, meaning) TUNE_##constant,
enum tune_status { TUNE_STATUSES(TUNE_STATUS_CONSTANT) TUNE_STATUS_COUNT };
#undef TUNE_STATUS_CONSTANT

struct tune_trial {
	size_t point;
	enum tune_status status;
	double value; /* the objective; of TUNE_OK only */
	struct tune_launch launch;
};

struct tune_history {
	const struct tune_space *space;
	bool is_maximized; /* a larger value is better */
	struct tune_trial *trials;
	size_t count, capacity;
	bool *is_tried; /* by point */
};

/* Returns 0 or -ENOMEM; tune_history_free in either case. */
int tune_history_open(struct tune_history *history, const struct tune_space *space,
		      bool is_maximized);

int tune_history_add(struct tune_history *history, const struct tune_trial *trial);
void tune_history_free(struct tune_history *history);

/* Whether value a is better than b. */
bool tune_is_better(const struct tune_history *history, double a, double b);

/* The best of the first count trials, or NULL. */
const struct tune_trial *tune_history_best(const struct tune_history *history, size_t count);

size_t tune_history_ok_count(const struct tune_history *history);

/*
 * What a search minimizes, for each trial: the logarithm of its value, so that 3% is the same everywhere, or the value by
 * the spread of all where some are not positive; with the sign turned where more is better.  Trials without a value
 * have the worst one that was seen.  costs: history->count of them.
 */
void tune_history_costs(const struct tune_history *history, double *costs);

const char *tune_status_name(enum tune_status status);

#endif
