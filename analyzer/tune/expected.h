/*
 * expected.h - which open point promises most, by a Gaussian process of what was tried.
 */
#ifndef ROOFLINE_TUNE_EXPECTED_H
#define ROOFLINE_TUNE_EXPECTED_H

#include "tune/gaussian.h"
#include "tune/search.h"

struct expected {
	size_t point;
	double improvement;	/* of the cost below that of the best trial, on average */
	double mean, deviation; /* of the cost there */
	double best_cost;	/* of the trials */
	double least_cost;	/* that any open point may have: mean less three deviations */
};

/* How many spread points come before the first fit. */
size_t expected_first_count(const struct tune_task *task);

/* Fits all trials; what is set of gaussian is used.  Fails with -EDOM where the values do not differ. */
int expected_fit(struct gaussian *gaussian, const struct tune_task *task);

/* Returns false where no point is open. */
bool expected_best(struct expected *expected, const struct gaussian *gaussian,
		   const struct tune_task *task);

#endif
