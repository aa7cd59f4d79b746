/* measures_kernels.c - kernels by name, and by launch shape where one name has several. */
#include "analysis/compare/measures.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/distribution.h"
#include "base/groups.h"

struct shape {
	uint32_t kernel, grid[3], block[3]; /* no padding: it is a key */
};

/* Working memory: groups of durations are the kernel names first, then the shapes. */
struct kernel_times {
	const struct profile *profile;
	struct durations durations;
	struct groups numbers;
	struct shape *shapes; /* by number */
	uint32_t *shape_of;   /* by signature */
};

static int number_shapes(struct kernel_times *times)
{
	const struct profile *profile = times->profile;
	int rc = 0;

	for (size_t i = 0; i < profile->signature_count && rc == 0; i++) {
		const struct profile_signature *signature = &profile->signatures[i];
		uint32_t known = times->numbers.count;
		struct shape shape = {.kernel = signature->kernel};

		memcpy(shape.grid, signature->grid, sizeof(shape.grid));
		memcpy(shape.block, signature->block, sizeof(shape.block));
		rc = groups_find(&times->numbers, &shape, sizeof(shape), &times->shape_of[i]);
		if (rc == 0 && times->numbers.count > known)
			times->shapes[times->shape_of[i]] = shape;
	}
	return rc;
}

static int kernel_times_open(struct kernel_times *times, const struct profile *profile)
{
	int rc;

	*times = (struct kernel_times){.profile = profile};
	times->shapes = calloc(profile->signature_count + 1, sizeof(*times->shapes));
	times->shape_of = calloc(profile->signature_count + 1, sizeof(*times->shape_of));
	if (!times->shapes || !times->shape_of)
		return -ENOMEM;
	rc = number_shapes(times);
	return rc < 0 ? rc
		      : durations_open(&times->durations,
				       profile->kernel_name_count + times->numbers.count);
}

static void kernel_times_close(struct kernel_times *times)
{
	durations_free(&times->durations);
	groups_free(&times->numbers);
	free(times->shapes);
	free(times->shape_of);
}

static size_t shape_group(const struct kernel_times *times, uint32_t signature)
{
	return times->profile->kernel_name_count + times->shape_of[signature];
}

static int collect(struct kernel_times *times)
{
	const struct profile *profile = times->profile;
	int rc;

	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		if (op->kind != OP_KERNEL)
			continue;
		durations_count(&times->durations, profile->signatures[op->detail].kernel);
		durations_count(&times->durations, shape_group(times, op->detail));
	}
	rc = durations_lay_out(&times->durations);
	for (size_t i = 0; i < profile->op_count && rc == 0; i++) {
		const struct profile_op *op = &profile->ops[i];

		if (op->kind != OP_KERNEL)
			continue;
		durations_add(&times->durations, profile->signatures[op->detail].kernel,
			      op->end_ns - op->start_ns);
		durations_add(&times->durations, shape_group(times, op->detail),
			      op->end_ns - op->start_ns);
	}
	return rc;
}

/* Total, launches and median of one group. */
static int add_group(struct measures *measures, struct kernel_times *times, size_t group,
		     const char *name, const char *shape)
{
	struct distribution time = durations_distribution(&times->durations, group);
	struct measure measure = {.group = MEASURE_KERNELS,
				  .name = (char *)name,
				  .shape = (char *)shape,
				  .quantity = "time",
				  .unit = UNIT_NS,
				  .value = (double)time.total_ns,
				  .low = NAN,
				  .high = NAN};
	int64_t low_ns, high_ns;
	int rc;

	if (!time.count)
		return 0;
	rc = measure_add(measures, &measure);
	measure.quantity = "launches";
	measure.unit = UNIT_COUNT;
	measure.value = (double)time.count;
	rc = rc ? rc : measure_add(measures, &measure);
	durations_median_interval(&times->durations, group, &low_ns, &high_ns);
	measure.quantity = "median";
	measure.unit = UNIT_NS;
	measure.value = (double)time.p50_ns;
	measure.low = (double)low_ns;
	measure.high = (double)high_ns;
	return rc ? rc : measure_add(measures, &measure);
}

static int add_shape(struct measures *measures, struct kernel_times *times, uint32_t number)
{
	const struct shape *shape = &times->shapes[number];
	char text[160];

	snprintf(text, sizeof(text), "grid %ux%ux%u block %ux%ux%u", shape->grid[0], shape->grid[1],
		 shape->grid[2], shape->block[0], shape->block[1], shape->block[2]);
	return add_group(measures, times, times->profile->kernel_name_count + number,
			 times->profile->kernel_names[shape->kernel], text);
}

static int add_all(struct measures *measures, struct kernel_times *times)
{
	const struct profile *profile = times->profile;
	int rc = 0;

	for (size_t i = 0; i < profile->kernel_name_count && rc == 0; i++)
		rc = add_group(measures, times, i, profile->kernel_names[i], NULL);
	for (uint32_t i = 0; i < times->numbers.count && rc == 0; i++)
		rc = add_shape(measures, times, i);
	return rc;
}

int measure_kernels(struct measures *measures, const struct report *report)
{
	struct kernel_times times;
	int rc = kernel_times_open(&times, report->profile);

	if (rc == 0)
		rc = collect(&times);
	if (rc == 0)
		rc = add_all(measures, &times);
	kernel_times_close(&times);
	return rc;
}
