#include "analysis/samples/sm_activity_kernels.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/groups.h"
#include "base/ns.h"
#include "base/ranked_value.h"
#include "trace/samples.h"

/* The tail begins when fewer SMs are active than this part of the plateau. */
#define TAIL_PART 0.9

/* Of an imbalance. */
#define MOST_BALANCE 0.7
#define LEAST_TAIL 0.3

bool sm_activity_is_imbalanced(const struct sm_activity_kernel *kernel)
{
	const struct sm_activity_filled *filled = &kernel->filled;

	return filled->busiest_sm > 0 && filled->sms < MOST_BALANCE * filled->busiest_sm &&
	       (double)filled->tail_ns >= LEAST_TAIL * (double)filled->span_ns;
}

bool sm_activity_is_filled(const struct profile_device *device,
			   const struct profile_signature *launch)
{
	double blocks = (double)launch->grid[0] * launch->grid[1] * launch->grid[2];

	return device->sm_count && blocks >= (double)SM_ACTIVITY_BLOCKS * device->sm_count;
}

/* Sums over the launches of one kernel. */
struct kernel_sum {
	struct sm_activity_kernel row;
	double sm_ns, least_ns, busiest_ns, tensor_ns, dram_bytes;
	double filled_sm_ns, filled_busiest_ns;
};

struct kernel_pass {
	const struct profile *profile;
	const struct profile_device *device;
	struct sm_activity_device *row; /* of the device */
	struct groups kernels;
	struct kernel_sum *sums;
	size_t count, capacity;
	struct sample_cursor cursor;
};

/* No other operation runs beside it. */
static bool runs_alone(const struct kernel_pass *pass, size_t op, int64_t latest_end_ns)
{
	const struct profile_op *ops = pass->profile->ops + pass->device->first_op;

	return latest_end_ns <= ops[op].start_ns &&
	       (op + 1 == pass->device->op_count || ops[op + 1].start_ns >= ops[op].end_ns);
}

/* The samples of one launch. */
struct launch_samples {
	struct sample_cursor *cursor;
	size_t first, count;
};

static bool level_of(size_t index, double *level, void *context)
{
	const struct launch_samples *samples = context;

	*level = (double)sample_at(samples->cursor, samples->first + index)->sm;
	return true;
}

/* The time from the last sample on the plateau, the level of three quarters of the samples or less. */
static int find_tail_ns(int64_t *tail_ns, const struct profile_op *op,
			struct launch_samples *samples)
{
	const struct ranked_values levels = {samples->count, level_of, samples};
	size_t last = samples->count;
	double plateau;
	int rc = ranked_value(&plateau, &levels, last - 1 - last / 4);

	if (rc < 0)
		return rc;
	while (last > 0 && (double)sample_at(samples->cursor, samples->first + last - 1)->sm <
				   TAIL_PART * plateau)
		last--;
	if (last)
		*tail_ns = op->end_ns -
			   sample_end_ns(sample_at(samples->cursor, samples->first + last - 1));
	if (*tail_ns < 0)
		*tail_ns = 0;
	return 0;
}

static struct kernel_sum *find_sum(struct kernel_pass *pass, uint32_t kernel)
{
	struct kernel_sum *sum;
	uint32_t number;

	if (groups_find(&pass->kernels, &kernel, sizeof(kernel), &number) < 0)
		return NULL;
	if (number < pass->count)
		return &pass->sums[number];
	sum = ARRAY_NEXT(pass->sums, pass->capacity, pass->count);
	if (!sum)
		return NULL;
	*sum = (struct kernel_sum){.row.kernel = kernel};
	pass->count++;
	return sum;
}

/* How much of a sample lies within an operation: no SM worked for it any longer. */
static double inside_ns(const struct profile_sample *sample, const struct profile_op *op)
{
	int64_t start_ns = max_ns(sample->start_ns, op->start_ns);

	return (double)(min_ns(sample_end_ns(sample), op->end_ns) - start_ns);
}

/* The time of a sample for which SMs were active, of that inside the operation. */
static double active_in(const struct profile_sample *sample, float share,
			const struct profile_op *op)
{
	double active_ns = (double)share * (double)sample->length_ns, most_ns;

	most_ns = inside_ns(sample, op);
	return active_ns < most_ns ? active_ns : most_ns;
}

/* What the SMs did in one launch. */
struct launch_times {
	double sm_ns, busiest_ns;
	int64_t span_ns, tail_ns;
};

/* Samples of a launch lie side by side from its start to its end; the outer ones reach beyond it. */
static struct launch_times add_samples(struct kernel_sum *sum, const struct profile_op *op,
				       const struct launch_samples *samples)
{
	struct launch_times times = {.span_ns = op->end_ns - op->start_ns};

	for (size_t i = 0; i < samples->count; i++) {
		const struct profile_sample *sample =
			sample_at(samples->cursor, samples->first + i);

		times.sm_ns += active_in(sample, sample->sm, op);
		times.busiest_ns += active_in(sample, sample->sm_max, op);
		sum->least_ns += active_in(sample, sample->sm_min, op);
		sum->tensor_ns += active_in(sample, sample->tensor, op);
		sum->dram_bytes +=
			(double)sample->dram_read_bytes + (double)sample->dram_write_bytes;
	}
	return times;
}

static void add_times(struct kernel_sum *sum, const struct launch_times *times, bool is_filled)
{
	sum->sm_ns += times->sm_ns;
	sum->busiest_ns += times->busiest_ns;
	sum->row.launch_count++;
	sum->row.span_ns += times->span_ns;
	sum->row.tail_ns += times->tail_ns;
	if (!is_filled)
		return;
	sum->filled_sm_ns += times->sm_ns;
	sum->filled_busiest_ns += times->busiest_ns;
	sum->row.filled.span_ns += times->span_ns;
	sum->row.filled.tail_ns += times->tail_ns;
}

static int add_launch(struct kernel_pass *pass, const struct profile_op *op,
		      struct launch_samples *samples)
{
	const struct profile_signature *launch = &pass->profile->signatures[op->detail];
	struct kernel_sum *sum = find_sum(pass, launch->kernel);
	struct launch_times times;
	int rc;

	if (!sum)
		return -ENOMEM;
	times = add_samples(sum, op, samples);
	rc = find_tail_ns(&times.tail_ns, op, samples);
	if (rc < 0)
		return rc;
	add_times(sum, &times, sm_activity_is_filled(pass->device, launch));
	pass->row->kernel_launch_count++;
	pass->row->kernel_tail_ns += times.tail_ns;
	return 0;
}

static int add_op(struct kernel_pass *pass, const struct profile_op *op)
{
	struct sample_cursor *cursor = &pass->cursor;
	size_t first = sample_search(cursor, pass->device, SAMPLE_ENDS_AFTER, op->start_ns);
	size_t end = pass->device->first_sample + pass->device->sample_count, i = first;
	int64_t start_ns = INT64_MAX, end_ns = 0; /* of the samples up to i */

	for (; i < end; i++) {
		const struct profile_sample *sample = sample_at(cursor, i);

		if (sample->start_ns >= op->end_ns ||
		    (i > first && sample->start_ns - end_ns >= (int64_t)sample->length_ns / 2))
			break;
		start_ns = i == first ? sample->start_ns : start_ns;
		end_ns = sample_end_ns(sample);
	}
	if (i - first < SM_ACTIVITY_SAMPLES || start_ns > op->start_ns || end_ns < op->end_ns)
		return 0;
	return add_launch(pass, op, &(struct launch_samples){cursor, first, i - first});
}

static int add_kernels(struct kernel_pass *pass)
{
	const struct profile_op *ops = pass->profile->ops + pass->device->first_op;
	int64_t latest_end_ns = INT64_MIN;
	int rc = 0;

	for (size_t i = 0; i < pass->device->op_count && rc == 0; i++) {
		if (ops[i].kind == OP_KERNEL && ops[i].detail != PROFILE_NONE &&
		    runs_alone(pass, i, latest_end_ns))
			rc = add_op(pass, &ops[i]);
		if (ops[i].end_ns > latest_end_ns)
			latest_end_ns = ops[i].end_ns;
	}
	return rc;
}

/* Once all kernels with sampled launches are known. */
static void add_filled_launches(struct kernel_pass *pass)
{
	const struct profile *profile = pass->profile;

	for (size_t i = 0; pass->count && i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];
		const struct profile_signature *launch;
		uint32_t number;

		if (op->kind != OP_KERNEL || op->detail == PROFILE_NONE)
			continue;
		launch = &profile->signatures[op->detail];
		number = groups_look(&pass->kernels, &launch->kernel, sizeof(launch->kernel));
		if (number != UINT32_MAX &&
		    sm_activity_is_filled(&profile->devices[profile_op_device(profile, op)],
					  launch))
			pass->sums[number].row.filled.all_ns += op->end_ns - op->start_ns;
	}
}

static void finish_kernel(struct sm_activity_kernel *row, const struct kernel_sum *sum)
{
	double span_ns = (double)sum->row.span_ns;

	*row = sum->row;
	row->sms = sum->sm_ns / span_ns;
	row->least_sm = sum->least_ns / span_ns;
	row->busiest_sm = sum->busiest_ns / span_ns;
	row->tensor = sum->tensor_ns / span_ns;
	row->dram_byte_per_s = sum->dram_bytes / span_ns * 1e9;
	if (row->filled.span_ns) {
		row->filled.sms = sum->filled_sm_ns / (double)row->filled.span_ns;
		row->filled.busiest_sm = sum->filled_busiest_ns / (double)row->filled.span_ns;
	}
}

static int compare_kernels(const void *left, const void *right)
{
	const struct sm_activity_kernel *a = left, *b = right;

	if (a->span_ns != b->span_ns)
		return a->span_ns < b->span_ns ? 1 : -1;
	return (a->kernel > b->kernel) - (a->kernel < b->kernel);
}

int sm_activity_build_kernels(struct sm_activity *activity, const struct profile *profile)
{
	struct kernel_pass pass = {.profile = profile, .cursor = sample_cursor_open(profile)};
	int rc = 0, cursor_rc;

	for (size_t i = 0; i < profile->device_count && rc == 0; i++) {
		pass.device = &profile->devices[i];
		pass.row = &activity->devices[i];
		if (pass.device->sampled & 1u << SAMPLED_sm_cycles)
			rc = add_kernels(&pass);
	}
	if (rc == 0)
		add_filled_launches(&pass);
	activity->kernels = calloc(pass.count + 1, sizeof(*activity->kernels));
	if (!activity->kernels)
		rc = -ENOMEM;
	for (size_t i = 0; i < pass.count && rc == 0; i++)
		finish_kernel(&activity->kernels[activity->kernel_count++], &pass.sums[i]);
	if (activity->kernels && activity->kernel_count)
		qsort(activity->kernels, activity->kernel_count, sizeof(*activity->kernels),
		      compare_kernels);
	groups_free(&pass.kernels);
	free(pass.sums);
	cursor_rc = sample_cursor_close(&pass.cursor);
	return rc < 0 ? rc : cursor_rc;
}
