/* launch.c - launches of points that were not tried, from those that were. */
#include "tune/launch.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/counters/occupancy.h"
#include "tune/cholesky.h"
#include "tune/history.h"

#define EXACT 1e-6 /* of the logarithm: rounding */
#define TOLD 1e-9  /* of a sum of squares: what is left of it when all other powers are known */

/* ---- a product of powers ---- */

enum { MOST_TERMS = TUNE_MOST_PARAMETERS + 1 };

struct product {
	double powers[MOST_TERMS]; /* of e, and of each parameter */
	bool is_known, is_exact;
};

/* Whether a quantity may be a power of it: several numbers, all of them positive. */
static bool is_factor(const struct tune_parameter *parameter)
{
	bool is_positive = parameter->is_number && parameter->count > 1;

	for (size_t i = 0; i < parameter->count; i++)
		is_positive &= parameter->numbers[i] > 0;
	return is_positive;
}

/* 1, and the logarithm of each parameter that is a factor, else 0. */
static size_t terms_of(const struct tune_space *space, size_t point, double *terms)
{
	size_t count = 0;

	terms[count++] = 1;
	for (size_t i = 0; i < space->parameter_count; i++) {
		const struct tune_parameter *parameter = &space->parameters[i];
		int64_t number = parameter->numbers[tune_space_level(space, point, i)];

		terms[count++] = is_factor(parameter) ? log((double)number) : 0;
	}
	return count;
}

static double product_at(const struct product *product, const struct tune_space *space,
			 size_t point)
{
	double terms[MOST_TERMS], sum = 0;
	size_t count = terms_of(space, point, terms);

	for (size_t i = 0; i < count; i++)
		sum += product->powers[i] * terms[i];
	return exp(sum);
}

/* offset: of the quantity in struct tune_launch. */
static double quantity_of(const struct tune_launch *launch, size_t offset)
{
	double value;

	memcpy(&value, (const char *)launch + offset, sizeof(value));
	return value;
}

/* False where the trials do not tell one power from another: a parameter was not changed, or only with another. */
static bool factor_told(double *matrix, size_t count)
{
	double before[MOST_TERMS];
	bool is_told;

	for (size_t i = 0; i < count; i++) {
		if (!(matrix[i * count + i] > 0))
			matrix[i * count + i] = 1; /* no factor: its power stays 0 */
		before[i] = matrix[i * count + i];
	}
	is_told = cholesky_factor(matrix, count);
	for (size_t i = 0; i < count; i++)
		is_told =
			is_told && matrix[i * count + i] * matrix[i * count + i] > TOLD * before[i];
	return is_told;
}

/* Least squares of the logarithms.  More trials than terms, so that agreement means something. */
static void fit_product(struct product *product, const struct tune_history *history, size_t offset)
{
	size_t term_count = history->space->parameter_count + 1, used = 0, without = 0;
	double matrix[MOST_TERMS * MOST_TERMS] = {0}, terms[MOST_TERMS];

	*product = (struct product){0};
	for (size_t i = 0; i < history->count; i++) {
		double value = quantity_of(&history->trials[i].launch, offset);

		if (!(value > 0)) {
			without += history->trials[i].launch.threads > 0;
			continue;
		}
		used++;
		(void)terms_of(history->space, history->trials[i].point, terms);
		for (size_t row = 0; row < term_count; row++) {
			product->powers[row] += terms[row] * log(value);
			for (size_t column = 0; column <= row; column++)
				matrix[row * term_count + column] += terms[row] * terms[column];
		}
	}
	product->is_exact = !used; /* none has any */
	if (without || used <= term_count || !factor_told(matrix, term_count))
		return;
	cholesky_solve(matrix, term_count, product->powers);
	product->is_known = product->is_exact = true;
	for (size_t i = 0; i < history->count; i++) {
		double value = quantity_of(&history->trials[i].launch, offset);

		if (value > 0 &&
		    fabs(log(value) - log(product_at(product, history->space,
						     history->trials[i].point))) > EXACT)
			product->is_exact = false;
	}
}

/* ---- what an SM holds ---- */

#define MOST_THREADS 1024 /* of a block, on every GPU that CUDA 8 and later know */

static struct profile_signature signature_of(const struct tune_launch *launch)
{
	return (struct profile_signature){
		.grid = {(uint32_t)fmin(llround(launch->blocks), UINT32_MAX), 1, 1},
		.block = {(uint32_t)fmin(llround(launch->threads), UINT32_MAX), 1, 1},
		.registers_per_thread = (uint32_t)ceil(launch->registers - 0.01),
		.static_shared_bytes = (uint32_t)llround(launch->static_shared_bytes),
		.dynamic_shared_bytes = (uint32_t)llround(launch->dynamic_shared_bytes),
	};
}

void tune_launch_fill(struct tune_launch *launch, const struct profile_device *device)
{
	const struct profile_signature signature = signature_of(launch);
	struct occupancy occupancy;

	launch->occupancy = launch->waves = 0;
	if (!device || !(launch->threads > 0) || !occupancy_of(&occupancy, device, &signature))
		return;
	launch->occupancy = occupancy.warps_ratio;
	launch->waves = occupancy.waves;
}

/* Registers that were not recorded but follow in some way may be off, so they forbid nothing. */
const char *tune_launch_why_impossible(const struct tune_launch *launch,
				       const struct profile_device *device)
{
	struct profile_signature signature = signature_of(launch);
	struct occupancy occupancy;

	if (launch->threads > MOST_THREADS + 0.5)
		return "its block would have more than 1,024 threads";
	if (!device || !device->max_shared_bytes_per_sm || !(launch->threads > 0))
		return NULL;
	signature.registers_per_thread = 0;
	return occupancy_of(&occupancy, device, &signature)
		       ? NULL
		       : "its block would need more shared memory than an SM has";
}

/* ---- all points ---- */

enum quantity { THREADS, BLOCKS, REGISTERS, STATIC_SHARED, DYNAMIC_SHARED, QUANTITY_COUNT };

static const size_t offsets[QUANTITY_COUNT] = {
	[THREADS] = offsetof(struct tune_launch, threads),
	[BLOCKS] = offsetof(struct tune_launch, blocks),
	[REGISTERS] = offsetof(struct tune_launch, registers),
	[STATIC_SHARED] = offsetof(struct tune_launch, static_shared_bytes),
	[DYNAMIC_SHARED] = offsetof(struct tune_launch, dynamic_shared_bytes),
};

/* Whether each parameter that is no factor was tried with its value there: what another value does is not known. */
static bool is_like_a_trial(const struct tune_history *history, size_t point)
{
	const struct tune_space *space = history->space;

	for (size_t i = 0; i < space->parameter_count; i++) {
		bool is_tried = is_factor(&space->parameters[i]);

		for (size_t j = 0; j < history->count && !is_tried; j++)
			is_tried = history->trials[j].launch.threads > 0 &&
				   tune_space_level(space, history->trials[j].point, i) ==
					   tune_space_level(space, point, i);
		if (!is_tried)
			return false;
	}
	return true;
}

static void fill_point(struct tune_launch *launch, const struct product *products,
		       const struct tune_space *space, size_t point)
{
	for (size_t i = 0; i < QUANTITY_COUNT; i++) {
		double value = products[i].is_known ? product_at(&products[i], space, point) : 0;

		memcpy((char *)launch + offsets[i], &value, sizeof(value));
	}
}

int tune_launches_predict(struct tune_launches *launches, const struct tune_history *history,
			  const struct profile_device *device)
{
	struct product products[QUANTITY_COUNT];
	size_t point_count = history->space->point_count;

	*launches = (struct tune_launches){.is_exact = true};
	for (size_t i = 0; i < QUANTITY_COUNT; i++) {
		fit_product(&products[i], history, offsets[i]);
		launches->is_exact &= i == BLOCKS || i == REGISTERS || products[i].is_exact;
	}
	if (!products[THREADS].is_known) {
		launches->is_exact = false;
		return 0;
	}
	launches->points = calloc(point_count, sizeof(*launches->points));
	if (!launches->points)
		return -ENOMEM;
	for (size_t i = 0; i < point_count; i++)
		if (is_like_a_trial(history, i))
			fill_point(&launches->points[i], products, history->space, i);
	for (size_t i = 0; i < history->count; i++)
		if (history->trials[i].launch.threads > 0)
			launches->points[history->trials[i].point] = history->trials[i].launch;
	for (size_t i = 0; i < point_count; i++)
		tune_launch_fill(&launches->points[i], device);
	return 0;
}

void tune_launches_free(struct tune_launches *launches)
{
	free(launches->points);
	*launches = (struct tune_launches){0};
}
