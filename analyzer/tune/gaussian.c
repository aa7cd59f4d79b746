/* gaussian.c - a Gaussian process, and the search for what makes the tried values most likely. */
#include "tune/gaussian.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune/cholesky.h"

#define SWEEPS 3 /* over all that is chosen; a further one changes hardly anything */

static const double length_choices[] = {0.15, 0.3, 0.6, 1.2, 2.4};
static const double noise_choices[] = {1e-6, 1e-4, 1e-2};
static const double launch_choices[] = {0, 1, 4};

#define USUAL_LENGTH 0.6 /* of a parameter that goes from 0 to 1 */
#define LENGTH_SPREAD \
	0.8 /* of its logarithm: between 0.27 and 1.3 for two thirds of all parameters */
/* Beside 1 of how near all parameters together are.  With or without them 92% of functions that are made as kernels'
 * times are were found with 15% of the trials; of the space of workloads/autotune.cu on an H200 82% of 200 seeds with
 * them and 75% without.
 *
 * Tried and left out, by 300 to 1,000 seeds with 15% of the trials (tests/bench/tune.py): how near two parameters are
 * together; weights and lengths drawn by how likely they are, in place of the likeliest; how alike launches are.  None
 * found more in the spaces of both workloads, autotune and tune_transpose.  Staying beside the best trial finds 19 more
 * of 100 seeds of the latter and 22 fewer of the former; without the bend it is 8 more, and of the made functions fewer. */
#define OWN_WEIGHT 3.0
#define BEND_WEIGHT 0.1

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- the covariance ---- */

static double matern(double distance)
{
	double scaled = sqrt(5) * distance;

	return (1 + scaled + scaled * scaled / 3) * exp(-scaled);
}

static double near_part(const struct gaussian *gaussian, size_t a, size_t b)
{
	double sum = 0, each = 0;

	for (size_t i = 0; i < gaussian->space->parameter_count; i++) {
		double distance =
			tune_space_distance(gaussian->space, i, a, b) / gaussian->lengths[i];

		sum += distance * distance;
		each += matern(distance) / (double)gaussian->space->parameter_count;
	}
	return matern(sqrt(sum)) + (gaussian->has_trend ? OWN_WEIGHT * each : 0);
}

/* From the middle, so that a line through it costs as much upward as downward. */
static double centered_product(const struct gaussian *gaussian, size_t a, size_t b)
{
	const double *at_a = tune_space_place(gaussian->space, a);
	const double *at_b = tune_space_place(gaussian->space, b);
	double sum = 0;

	for (size_t i = 0; i < gaussian->space->dimension_count; i++)
		sum += 4 * (at_a[i] - 0.5) * (at_b[i] - 0.5);
	return sum;
}

static double launch_part(const struct gaussian *gaussian, size_t a, size_t b)
{
	double sum = 0;

	for (size_t i = 0; gaussian->launch_facts && i < GAUSSIAN_LAUNCH_FACTS; i++)
		sum += gaussian->launch_facts[a * GAUSSIAN_LAUNCH_FACTS + i] *
		       gaussian->launch_facts[b * GAUSSIAN_LAUNCH_FACTS + i];
	return sum;
}

static double covariance(const struct gaussian *gaussian, size_t a, size_t b)
{
	double sum = near_part(gaussian, a, b), product;

	if (gaussian->has_trend) {
		product = centered_product(gaussian, a, b);
		sum += BEND_WEIGHT * product * product / 4;
	}
	return sum + gaussian->launch_weight * launch_part(gaussian, a, b);
}

/* ---- the fit ---- */

/* How likely the values are, up to a constant; -INFINITY where the covariance cannot be factored. */
static double solve(struct gaussian *gaussian, const double *centered, double spread)
{
	size_t count = gaussian->count;
	double fitted = 0, logarithms = 0, prior = 0;

	for (size_t row = 0; row < count; row++) {
		for (size_t column = 0; column <= row; column++)
			gaussian->factor[row * count + column] =
				covariance(gaussian, gaussian->points[row],
					   gaussian->points[column]);
		gaussian->factor[row * count + row] += gaussian->noise;
	}
	if (!cholesky_factor(gaussian->factor, count))
		return -INFINITY;
	memcpy(gaussian->solved, centered, count * sizeof(*centered));
	cholesky_solve(gaussian->factor, count, gaussian->solved);
	for (size_t i = 0; i < count; i++) {
		fitted += centered[i] * gaussian->solved[i];
		logarithms += log(gaussian->factor[i * count + i]);
	}
	/* As if two more values had the spread of all: few points that happen to fit do not say that all will. */
	gaussian->variance = (fitted + 2 * spread) / (double)(count + 2);
	for (size_t i = 0; i < gaussian->space->parameter_count; i++) {
		double off = log(gaussian->lengths[i] / USUAL_LENGTH) / LENGTH_SPREAD;

		prior += off * off / 2;
	}
	return -(double)(count + 2) / 2 * log(gaussian->variance) - logarithms - prior;
}

/* Sets what to the choice under which the values are most likely. */
static void choose(struct gaussian *gaussian, double *what, const double *choices, size_t count,
		   const double *centered, double spread)
{
	double best = -INFINITY, chosen = *what;

	for (size_t i = 0; i < count; i++) {
		double likely;

		*what = choices[i];
		likely = solve(gaussian, centered, spread);
		if (likely > best) {
			best = likely;
			chosen = choices[i];
		}
	}
	*what = chosen;
}

static void choose_all(struct gaussian *gaussian, const double *centered, double spread)
{
	for (size_t i = 0; i < gaussian->space->parameter_count; i++)
		gaussian->lengths[i] = USUAL_LENGTH;
	gaussian->launch_weight = 0;
	gaussian->noise = noise_choices[1];
	for (int sweep = 0; sweep < SWEEPS; sweep++) {
		for (size_t i = 0; i < gaussian->space->parameter_count; i++)
			choose(gaussian, &gaussian->lengths[i], length_choices,
			       COUNT(length_choices), centered, spread);
		if (gaussian->launch_facts)
			choose(gaussian, &gaussian->launch_weight, launch_choices,
			       COUNT(launch_choices), centered, spread);
		choose(gaussian, &gaussian->noise, noise_choices, COUNT(noise_choices), centered,
		       spread);
	}
	(void)solve(gaussian, centered, spread);
}

int gaussian_fit(struct gaussian *gaussian, const size_t *points, const double *values,
		 size_t count)
{
	double *centered = calloc(count, sizeof(*centered));
	double spread = 0;

	gaussian->count = count;
	gaussian->points = calloc(count, sizeof(*points));
	gaussian->factor = calloc(count * count, sizeof(double));
	gaussian->solved = calloc(count, sizeof(double));
	if (!centered || !gaussian->points || !gaussian->factor || !gaussian->solved) {
		free(centered);
		return -ENOMEM;
	}
	memcpy(gaussian->points, points, count * sizeof(*points));
	gaussian->mean = 0;
	for (size_t i = 0; i < count; i++)
		gaussian->mean += values[i] / (double)count;
	for (size_t i = 0; i < count; i++) {
		centered[i] = values[i] - gaussian->mean;
		spread += centered[i] * centered[i] / (double)count;
	}
	if (spread > 0)
		choose_all(gaussian, centered, spread);
	free(centered);
	return spread > 0 ? 0 : -EDOM;
}

void gaussian_predict(const struct gaussian *gaussian, size_t point, double *mean,
		      double *deviation)
{
	size_t count = gaussian->count;
	double *between = calloc(count, sizeof(*between));
	double variance = covariance(gaussian, point, point);

	*mean = gaussian->mean;
	*deviation = 0;
	if (!between)
		return;
	for (size_t i = 0; i < count; i++) {
		between[i] = covariance(gaussian, point, gaussian->points[i]);
		*mean += between[i] * gaussian->solved[i];
	}
	cholesky_forward(gaussian->factor, count, between);
	for (size_t i = 0; i < count; i++)
		variance -= between[i] * between[i];
	*deviation = sqrt(fmax(variance, 0) * gaussian->variance);
	free(between);
}

void gaussian_free(struct gaussian *gaussian)
{
	free(gaussian->points);
	free(gaussian->factor);
	free(gaussian->solved);
	gaussian->points = NULL;
	gaussian->factor = gaussian->solved = NULL;
}
