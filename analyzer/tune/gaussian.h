/*
 * gaussian.h - a Gaussian process: what values to expect at points that were not tried, and how far off that may be.
 *
 * Its covariance is a Matern 5/2: kernels' times have kinks where another limit takes over, and an RBF, which has none,
 * is too sure of itself there.  Length scales, noise and the weight of launches are those under which the tried values
 * are most likely, each searched on a short list.
 */
#ifndef ROOFLINE_TUNE_GAUSSIAN_H
#define ROOFLINE_TUNE_GAUSSIAN_H

#include <stdbool.h>
#include <stddef.h>

#include "tune/space.h"

#define GAUSSIAN_LAUNCH_FACTS 2

struct gaussian {
	const struct tune_space *space;
	/* Facts of each point's launch, GAUSSIAN_LAUNCH_FACTS each; NULL: none. */
	const double *launch_facts;
	bool has_trend; /* expect that each parameter has an effect of its own, and about a parabola in all */
	double lengths[TUNE_MOST_PARAMETERS];
	double launch_weight; /* of a straight line in these facts, beside 1 of points that are near */
	double noise;	      /* variance, in that of the values */
	/* owned */
	size_t *points;
	size_t count;
	double *factor, *solved; /* of the covariance; and its solution for the values */
	double mean, variance;
};

/* Fits it to count points and their values, at least 2.  space, launch_facts and has_trend are set.  Returns 0, -ENOMEM, or
 * -EDOM where the values do not differ; gaussian_free in any case. */
int gaussian_fit(struct gaussian *gaussian, const size_t *points, const double *values,
		 size_t count);

/* At a point: the value to expect, and its standard deviation. */
void gaussian_predict(const struct gaussian *gaussian, size_t point, double *mean,
		      double *deviation);

void gaussian_free(struct gaussian *gaussian);

#endif
