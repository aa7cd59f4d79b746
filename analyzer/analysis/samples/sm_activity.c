#include "analysis/samples/sm_activity.h"

#include <errno.h>
#include <stdlib.h>

#include "base/groups.h"
#include "base/spans.h"
#include "base/sums.h"
#include "base/array.h"
#include "base/search.h"

/* Records and samples agree to about this (docs/results/device-work.txt). */
#define EDGE_NS 2000
/* The tail begins when fewer SMs are active than this part of the plateau. */
#define TAIL_PART 0.9

static const struct {
	const char *key, *title, *meaning;
} differences[] = {
#define DIFFERENCE_ROW(constant, key, title, meaning) {key, title, meaning},
	SM_DIFFERENCES(DIFFERENCE_ROW)
#undef DIFFERENCE_ROW
};

const char *sm_difference_key(enum sm_difference difference)
{
	return differences[difference].key;
}

const char *sm_difference_title(enum sm_difference difference)
{
	return differences[difference].title;
}

const char *sm_difference_meaning(enum sm_difference difference)
{
	return differences[difference].meaning;
}

static int64_t sample_end_ns(const struct profile_sample *sample)
{
	return sample->start_ns + (int64_t)sample->length_ns;
}

/* ---- devices ---- */

/* What the trace has of one device. */
struct traced {
	struct spans all, kernels, near; /* near: all, with EDGE_NS around */
};

static int traced_build(struct traced *traced, const struct profile *profile,
			const struct profile_device *device)
{
	int rc = 0;

	*traced = (struct traced){0};
	for (size_t i = 0; i < device->op_count && rc == 0; i++) {
		const struct profile_op *op = &profile->ops[device->first_op + i];

		rc = spans_add(&traced->all, op->start_ns, op->end_ns);
		if (rc == 0)
			rc = spans_add(&traced->near, op->start_ns - EDGE_NS, op->end_ns + EDGE_NS);
		if (rc == 0 && (op->kind == OP_KERNEL || op->kind == OP_GRAPH))
			rc = spans_add(&traced->kernels, op->start_ns, op->end_ns);
	}
	spans_seal(&traced->all);
	spans_seal(&traced->kernels);
	spans_seal(&traced->near);
	return rc;
}

static void traced_free(struct traced *traced)
{
	spans_free(&traced->all);
	spans_free(&traced->kernels);
	spans_free(&traced->near);
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void add_difference(struct sm_activity_device *device, const struct traced *traced,
			   const struct profile_sample *sample, int64_t trace_ns, int64_t active_ns)
{
	int64_t start_ns = sample->start_ns, end_ns = sample_end_ns(sample), part_ns;

	if (trace_ns > active_ns) {
		part_ns = least(spans_covered(&traced->kernels, start_ns, end_ns),
				trace_ns - active_ns);
		device->difference_ns[SM_INSIDE] += part_ns;
		device->difference_ns[SM_COPY] += trace_ns - active_ns - part_ns;
	} else if (active_ns > trace_ns) {
		part_ns = least(spans_covered(&traced->near, start_ns, end_ns) - trace_ns,
				active_ns - trace_ns);
		device->difference_ns[SM_EDGE] += part_ns;
		device->difference_ns[SM_UNTRACED] += active_ns - trace_ns - part_ns;
	}
}

static void add_traffic(struct sm_activity_device *device, const struct profile_sample *sample)
{
	device->dram_bytes += (double)sample->dram_read_bytes + (double)sample->dram_write_bytes;
	device->l2_bytes += (double)sample->l2_bytes;
	device->atomic_bytes += (double)sample->atomic_bytes;
	device->pcie_read_bytes += (double)sample->pcie_read_bytes;
	device->pcie_write_bytes += (double)sample->pcie_write_bytes;
	device->nvlink_rx_bytes += (double)sample->nvlink_rx_bytes;
	device->nvlink_tx_bytes += (double)sample->nvlink_tx_bytes;
}

static void add_sample(struct sm_activity_device *device, const struct traced *traced,
		       const struct profile_sample *sample)
{
	int64_t length_ns = (int64_t)sample->length_ns;
	int64_t active_ns = (int64_t)((double)sample->sm_max * (double)length_ns + 0.5);
	int64_t trace_ns = spans_covered(&traced->all, sample->start_ns, sample_end_ns(sample));

	sum_add_ns(&device->sampled_ns, length_ns);
	add_traffic(device, sample);
	if (!device->has_sms)
		return;
	active_ns = least(active_ns, length_ns);
	device->traced_ns += trace_ns;
	device->active_ns += active_ns;
	device->both_ns += least(trace_ns, active_ns);
	device->neither_ns += length_ns - (trace_ns > active_ns ? trace_ns : active_ns);
	device->mean_sms += (double)sample->sm * (double)length_ns;
	add_difference(device, traced, sample, trace_ns, active_ns);
}

/* The part of a sample that lies within a span: its traffic is taken to be spread evenly. */
static struct profile_sample cut(const struct profile_sample *sample,
				 const struct profile_sampled_span *span)
{
	int64_t start_ns = sample->start_ns > span->start_ns ? sample->start_ns : span->start_ns;
	int64_t length_ns = least(sample_end_ns(sample), span->end_ns) - start_ns;
	float part = (float)((double)length_ns / (double)sample->length_ns);
	struct profile_sample cut = *sample;

	cut.start_ns = start_ns;
	cut.length_ns = (uint64_t)length_ns;
	if (length_ns == (int64_t)sample->length_ns)
		return cut;
	cut.dram_read_bytes *= part;
	cut.dram_write_bytes *= part;
	cut.l2_bytes *= part;
	cut.atomic_bytes *= part;
	cut.pcie_read_bytes *= part;
	cut.pcie_write_bytes *= part;
	cut.nvlink_rx_bytes *= part;
	cut.nvlink_tx_bytes *= part;
	return cut;
}

/* Only what lies within sampled time; both are in order of time. */
static void add_samples(struct sm_activity_device *device, const struct traced *traced,
			const struct profile *profile, const struct profile_device *of)
{
	const struct profile_sample *sample = profile->samples + of->first_sample;
	const struct profile_sample *end = sample + of->sample_count;
	const struct profile_sampled_span *span = profile->sampled_spans + of->first_span;
	const struct profile_sampled_span *last = span + of->span_count;

	for (; sample < end; sample++) {
		bool is_inside = false;

		while (span < last && span->end_ns <= sample->start_ns)
			span++;
		for (const struct profile_sampled_span *next = span;
		     next < last && next->start_ns < sample_end_ns(sample); next++) {
			struct profile_sample part = cut(sample, next);

			add_sample(device, traced, &part);
			is_inside = true;
		}
		device->sample_count += is_inside ? sample->sample_count : 0;
	}
}

static void add_spans(struct sm_activity_device *device, const struct profile *profile,
		      const struct profile_device *of)
{
	for (size_t i = 0; i < of->span_count; i++) {
		const struct profile_sampled_span *span =
			&profile->sampled_spans[of->first_span + i];

		if (!device->interval_ns || span->interval_ns < device->interval_ns)
			device->interval_ns = span->interval_ns;
		if (span->interval_ns > device->longest_interval_ns)
			device->longest_interval_ns = span->interval_ns;
	}
	device->window_count = of->span_count;
}

static int compare_rates(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* What reading the counters itself writes over PCIe: so much as in the median quiet row, all the time. */
static int find_own_traffic(struct sm_activity_device *device, const struct profile *profile,
			    const struct profile_device *of)
{
	double *rates = malloc((of->sample_count + 1) * sizeof(*rates)), own_bytes;
	size_t count = 0;

	if (!rates)
		return -ENOMEM;
	for (size_t i = 0; i < of->sample_count; i++) {
		const struct profile_sample *sample = &profile->samples[of->first_sample + i];

		if (sample->sample_count > 1 && sample->length_ns)
			rates[count++] =
				(double)sample->pcie_write_bytes / (double)sample->length_ns;
	}
	if (count) {
		qsort(rates, count, sizeof(*rates), compare_rates);
		own_bytes = rates[count / 2] * (double)device->sampled_ns;
		device->pcie_own_bytes =
			own_bytes < device->pcie_write_bytes ? own_bytes : device->pcie_write_bytes;
	}
	free(rates);
	return 0;
}

static int build_device(struct sm_activity_device *device, const struct profile *profile,
			const struct profile_device *of)
{
	struct traced traced;
	int rc;

	if (!of->sample_count || !of->span_count)
		return 0;
	rc = traced_build(&traced, profile, of);
	device->has_sms = of->sampled & 1u << SAMPLED_sm_cycles;
	add_spans(device, profile, of);
	if (rc == 0)
		add_samples(device, &traced, profile, of);
	if (rc == 0)
		rc = find_own_traffic(device, profile, of);
	if (device->active_ns)
		device->mean_active_sms = device->mean_sms / (double)device->active_ns;
	if (device->sampled_ns)
		device->mean_sms /= (double)device->sampled_ns;
	traced_free(&traced);
	return rc;
}

/* ---- kernels ---- */

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
	float *levels; /* scratch: SM activity of the samples of one launch */
	size_t level_capacity;
};

struct moment {
	const struct profile_sample *samples;
	int64_t ns;
};

static bool is_sample_after(size_t index, const void *context)
{
	const struct moment *moment = context;

	return sample_end_ns(&moment->samples[index]) > moment->ns;
}

static size_t first_sample_after(const struct kernel_pass *pass, int64_t time_ns)
{
	const struct profile_sample *samples = pass->profile->samples + pass->device->first_sample;

	return search_first(0, pass->device->sample_count, is_sample_after,
			    &(struct moment){samples, time_ns});
}

/* No other operation runs beside it. */
static bool runs_alone(const struct kernel_pass *pass, size_t op, int64_t latest_end_ns)
{
	const struct profile_op *ops = pass->profile->ops + pass->device->first_op;

	return latest_end_ns <= ops[op].start_ns &&
	       (op + 1 == pass->device->op_count || ops[op + 1].start_ns >= ops[op].end_ns);
}

static int compare_levels(const void *left, const void *right)
{
	const float *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* The time from the last sample on the plateau, the level of three quarters of the samples or less. */
static int64_t find_tail_ns(const struct kernel_pass *pass, const struct profile_op *op,
			    size_t first, size_t count)
{
	const struct profile_sample *samples =
		pass->profile->samples + pass->device->first_sample + first;
	size_t last = count;
	double plateau;

	qsort(pass->levels, count, sizeof(*pass->levels), compare_levels);
	plateau = (double)pass->levels[count - 1 - count / 4];
	while (last > 0 && (double)samples[last - 1].sm < TAIL_PART * plateau)
		last--;
	if (!last || sample_end_ns(&samples[last - 1]) >= op->end_ns)
		return 0;
	return op->end_ns - sample_end_ns(&samples[last - 1]);
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
	int64_t start_ns = sample->start_ns > op->start_ns ? sample->start_ns : op->start_ns;

	return (double)(least(sample_end_ns(sample), op->end_ns) - start_ns);
}

/* The time of a sample for which SMs were active, of that inside the operation. */
static double active_in(const struct profile_sample *sample, float share,
			const struct profile_op *op)
{
	double active_ns = (double)share * (double)sample->length_ns, most_ns;

	most_ns = inside_ns(sample, op);
	return active_ns < most_ns ? active_ns : most_ns;
}

/* Samples of a launch lie side by side from its start to its end; the outer ones reach beyond it. */
static int add_launch(struct kernel_pass *pass, const struct profile_op *op, size_t first,
		      size_t count)
{
	const struct profile_sample *samples =
		pass->profile->samples + pass->device->first_sample + first;
	const struct profile_signature *launch = &pass->profile->signatures[op->detail];
	struct kernel_sum *sum = find_sum(pass, launch->kernel);
	double sm_ns = 0, busiest_ns = 0;
	int64_t tail_ns;
	float *levels =
		array_reserve(pass->levels, &pass->level_capacity, count, sizeof(*pass->levels));

	if (levels)
		pass->levels = levels;
	if (!sum || !levels)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct profile_sample *sample = &samples[i];

		levels[i] = sample->sm;
		sm_ns += active_in(sample, sample->sm, op);
		busiest_ns += active_in(sample, sample->sm_max, op);
		sum->least_ns += active_in(sample, sample->sm_min, op);
		sum->tensor_ns += active_in(sample, sample->tensor, op);
		sum->dram_bytes +=
			(double)sample->dram_read_bytes + (double)sample->dram_write_bytes;
	}
	tail_ns = find_tail_ns(pass, op, first, count);
	sum->sm_ns += sm_ns;
	sum->busiest_ns += busiest_ns;
	sum->row.launch_count++;
	sum->row.span_ns += op->end_ns - op->start_ns;
	sum->row.tail_ns += tail_ns;
	if (sm_activity_is_filled(pass->device, launch)) {
		sum->filled_sm_ns += sm_ns;
		sum->filled_busiest_ns += busiest_ns;
		sum->row.filled.span_ns += op->end_ns - op->start_ns;
		sum->row.filled.tail_ns += tail_ns;
	}
	pass->row->kernel_launch_count++;
	pass->row->kernel_tail_ns += tail_ns;
	return 0;
}

static int add_op(struct kernel_pass *pass, const struct profile_op *op)
{
	const struct profile_sample *samples = pass->profile->samples + pass->device->first_sample;
	size_t first = first_sample_after(pass, op->start_ns), i = first;

	while (i < pass->device->sample_count && samples[i].start_ns < op->end_ns &&
	       (i == first || samples[i].start_ns - sample_end_ns(&samples[i - 1]) <
				      (int64_t)samples[i].length_ns / 2))
		i++;
	if (i - first < SM_ACTIVITY_SAMPLES || samples[first].start_ns > op->start_ns ||
	    sample_end_ns(&samples[i - 1]) < op->end_ns)
		return 0;
	return add_launch(pass, op, first, i - first);
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

static int build_kernels(struct sm_activity *activity, const struct profile *profile)
{
	struct kernel_pass pass = {.profile = profile};
	int rc = 0;

	for (size_t i = 0; i < profile->device_count && rc == 0; i++) {
		pass.device = &profile->devices[i];
		pass.row = &activity->devices[i];
		if (pass.device->sampled & 1u << SAMPLED_sm_cycles)
			rc = add_kernels(&pass);
	}
	activity->kernels = calloc(pass.count + 1, sizeof(*activity->kernels));
	if (!activity->kernels)
		rc = -ENOMEM;
	for (size_t i = 0; i < pass.count && rc == 0; i++)
		finish_kernel(&activity->kernels[activity->kernel_count++], &pass.sums[i]);
	if (activity->kernel_count)
		qsort(activity->kernels, activity->kernel_count, sizeof(*activity->kernels),
		      compare_kernels);
	groups_free(&pass.kernels);
	free(pass.sums);
	free(pass.levels);
	return rc;
}

int sm_activity_build(struct sm_activity **out, const struct profile *profile, struct err *err)
{
	struct sm_activity *activity = calloc(1, sizeof(*activity));
	int rc = activity ? 0 : -ENOMEM;

	if (rc == 0) {
		activity->devices = calloc(profile->device_count + 1, sizeof(*activity->devices));
		activity->device_count = profile->device_count;
		rc = activity->devices ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < profile->device_count && rc == 0; i++)
		rc = build_device(&activity->devices[i], profile, &profile->devices[i]);
	if (rc == 0)
		rc = build_kernels(activity, profile);
	if (rc < 0) {
		sm_activity_free(activity);
		return err_set(err, rc, "out of memory for the activity of the SMs");
	}
	*out = activity;
	return 0;
}

void sm_activity_free(struct sm_activity *activity)
{
	if (!activity)
		return;
	free(activity->devices);
	free(activity->kernels);
	free(activity);
}
