#include "replay/latencies.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/worker.h"

/* An operation that starts this long after its call returned, or after the one before it, had to wait for
 * something else. */
#define PROMPT_NS 20000
/* Where nothing in a recording tells, rounded: launch_to_start of docs/results/ceilings.txt. */
#define LAUNCH_TO_START_NS 5000
/* Likewise where nothing was queued: what lies between operations that were, as CUPTI stamps them, in the middle one of all
 * recordings of tests/recordings and tests/pairs that tell (docs/results/stamped-gaps.txt).  But between kernels, which are
 * short where none is queued, what lies behind small ones: 960 (dp_tokens) to 1088 ns (pytorch) in tests/pairs.  And from
 * one to a copy, which begins after either 1 us or 5 to 9, what does in the lowest tenth. */
static const int64_t unqueued_gap_ns[LATENCY_GAP_COUNT] = {
	[GAP_AFTER_KERNEL] = 1088, [GAP_KERNEL_TO_COPY] = 1024, [GAP_COPY_TO_KERNEL] = 5760,
	[GAP_COPY_TO_COPY] = 2112, [GAP_AFTER_GRAPH] = 2208,
};
/* On an idle stream an operation starts so long after its call was entered: one whose call had returned by then was
 * waiting for the one before it. */
#define QUEUED_NS LAUNCH_TO_START_NS
#define COPY_QUEUED_NS 1000
/* The share of samples below what something takes at least, but for outliers. */
#define LEAST_SHARE 0.1
/* An operation that starts after so many usual gaps was not waiting for the one before. */
#define LATE_GAPS 2
/* At each end of what is sorted, from so many samples on. */
#define OUTLIER_SHARE 0.05
#define OUTLIERS_TOLD 3

/* ---- of one operation ---- */

static enum latency_kind kind_of(const struct profile *profile, const struct profile_op *op)
{
	if (op->kind != OP_COPY)
		return LATENCY_KERNEL;
	switch (profile->copies[op->detail].kind) {
	case COPY_TO_DEVICE:
		return LATENCY_COPY_IN;
	case COPY_TO_HOST:
		return LATENCY_COPY_OUT;
	default:
		return LATENCY_COPY_OTHER;
	}
}

static size_t launch_index(const struct model *model, const struct profile_op *op)
{
	return (size_t)model->profile->calls[op->call].name * LATENCY_KIND_COUNT +
	       kind_of(model->profile, op);
}

static const struct launch_latencies *launch_of(const struct model *model,
						const struct profile_op *op)
{
	return &model->devices[profile_op_device(model->profile, op)]
			.launches[launch_index(model, op)];
}

/* Of a call that waits for its operation, until that started, and after what it had to wait for. */
static int64_t own_start_ns(const struct model *model, const struct profile_op *op)
{
	int64_t call_ns = model->profile->calls[op->call].start_ns;
	int64_t ready_ns = model_ready_ns(model, (size_t)(op - model->profile->ops));

	return op->start_ns - (ready_ns > call_ns ? ready_ns : call_ns);
}

/* Not what a call took after its operation had started. */
static int64_t extension_ns(const struct model *model, const struct profile_op *op,
			    int64_t usual_ns)
{
	const struct profile_call *call = &model->profile->calls[op->call];
	int64_t call_ns = call->end_ns - call->start_ns, start_ns = op->start_ns - call->start_ns;
	int64_t longer_ns = (call_ns < start_ns ? call_ns : start_ns) - usual_ns;

	switch ((enum call_behavior)model->call_traits[op->call].behavior) {
	case CALL_WORKS:
		break;
	case CALL_WAITS_OWN:
		longer_ns = own_start_ns(model, op) - usual_ns;
		break;
	default:
		return 0;
	}
	return longer_ns > 0 ? longer_ns : 0;
}

int64_t latencies_extension_ns(const struct model *model, const struct profile_op *op)
{
	return extension_ns(model, op, launch_of(model, op)->call_ns);
}

int64_t latencies_launch_ns(const struct model *model, size_t index)
{
	const struct profile_op *op = &model->profile->ops[index];
	const struct launch_latencies *launch = launch_of(model, op);

	return (model_is_idle(model, index) ? launch->idle_ns : launch->busy_ns) +
	       extension_ns(model, op, launch->call_ns);
}

static bool is_host_copy(const struct profile *profile, const struct profile_op *op)
{
	enum latency_kind kind = kind_of(profile, op);

	return kind == LATENCY_COPY_IN || kind == LATENCY_COPY_OUT;
}

enum latency_gap latencies_gap_after(const struct model *model, uint32_t before, uint32_t op)
{
	const struct profile *profile = model->profile;
	const struct profile_op *last = &profile->ops[before];
	bool is_to_copy;

	if (last->call != PROFILE_NONE &&
	    (op == PROFILE_NONE || profile->ops[op].call != last->call) &&
	    model_call_class(model, last->call) == CALL_GRAPH_LAUNCH)
		return GAP_AFTER_GRAPH;
	is_to_copy = op != PROFILE_NONE && is_host_copy(profile, &profile->ops[op]);
	if (is_host_copy(profile, last))
		return is_to_copy ? GAP_COPY_TO_COPY : GAP_COPY_TO_KERNEL;
	return is_to_copy ? GAP_KERNEL_TO_COPY : GAP_AFTER_KERNEL;
}

/* Whether it started soon after its call. */
static bool is_prompt(const struct profile *profile, const struct profile_op *op)
{
	return op->start_ns < profile->calls[op->call].end_ns + PROMPT_NS;
}

/* Of the device that it ran on. */
static inline const struct device_latencies *device_of(const struct model *model, uint32_t op)
{
	return &model->devices[profile_op_device(model->profile, &model->profile->ops[op])];
}

/* Whether the operation waited for what no record tells of: a function of the host, in its stream or as the last node
 * of a graph, or the body of a graph's conditional node.  Graphs that usually end with nothing of that follow each
 * other promptly. */
static inline bool is_after_unrecorded(const struct model *model,
				       const struct device_latencies *device, uint32_t before,
				       uint32_t op)
{
	bool is_called_back = model->op_traits[op].is_called_back;

	if ((!is_called_back && device->gap_ns[GAP_AFTER_GRAPH] < PROMPT_NS) ||
	    model_ready_ns(model, op) == INT64_MIN)
		return false;
	return is_called_back || (!is_prompt(model->profile, &model->profile->ops[op]) &&
				  latencies_gap_after(model, before, op) == GAP_AFTER_GRAPH);
}

int64_t latencies_gap_ns(const struct model *model, uint32_t before, uint32_t op)
{
	const struct device_latencies *device = device_of(model, before);

	if (op != PROFILE_NONE && is_after_unrecorded(model, device, before, op))
		return model->profile->ops[op].start_ns - model_ready_ns(model, op);
	return device->gap_ns[latencies_gap_after(model, before, op)];
}

/* When an operation has been queued.  Its call has returned, and a launch takes so long; a copy is submitted when its call
 * returns, and behind a kernel of a few us in tests/pairs/conditional_ifelse.naive seldom longer.  One that its call
 * waits for is submitted as soon as a launch starts. */
static int64_t queued_by_ns(const struct model *model, size_t index)
{
	const struct profile_op *op = &model->profile->ops[index];
	const struct profile_call *call = &model->profile->calls[op->call];

	if (model->call_traits[op->call].behavior == CALL_WAITS_OWN)
		return call->start_ns + QUEUED_NS;
	return call->end_ns + (latencies_gap_after(model, model_predecessor(model, index),
						   (uint32_t)index) == GAP_KERNEL_TO_COPY
				       ? COPY_QUEUED_NS
				       : QUEUED_NS);
}

/* A copy may have been submitted when the kernel before it had ended. */
static enum latency_gap own_gap(const struct model *model, uint32_t before, uint32_t op)
{
	enum latency_gap gap = latencies_gap_after(model, before, op);

	return gap == GAP_KERNEL_TO_COPY && model_ready_ns(model, op) <= queued_by_ns(model, op)
		       ? GAP_KERNEL_TO_LATE_COPY
		       : gap;
}

/* The same for each operation behind its predecessor. */
static int find_gaps(void *context, size_t first, size_t end)
{
	struct model *model = context;

	for (size_t i = first; i < end; i++) {
		uint32_t before = model_predecessor(model, i), op = (uint32_t)i;

		if (before == PROFILE_NONE)
			continue;
		model->op_traits[i].is_unrecorded =
			is_after_unrecorded(model, device_of(model, before), before, op);
		model->op_traits[i].gap = own_gap(model, before, op) & 7;
	}
	return 0;
}

/* ---- samples ---- */

/* So many say as much as millions do. */
#define SAMPLES_MOST 65536

/* Every stride-th one of all that were added. */
struct samples {
	int64_t *items;
	size_t count, capacity;
	size_t added_count, stride; /* 0 before the first */
};

/* Of a device; those of launches as device_latencies.launches. */
struct device_samples {
	struct launch_samples {
		struct samples calls, idle, busy;
		/* Of busy, where the work before had ended by the time that a launch takes: those that the call may have
		 * decided, and how many of them started long after that end. */
		struct samples prompt;
		size_t late_count;
	} * launches;
	size_t launch_count;
	struct samples gaps[LATENCY_GAP_COUNT];
	struct samples
		behind[LATENCY_GAP_COUNT]; /* of all operations behind another, queued or not */
};

/* Where there are too many, every second one goes. */
static void thin_out(struct samples *samples)
{
	for (size_t i = 0; 2 * i < samples->count; i++)
		samples->items[i] = samples->items[2 * i];
	samples->count = (samples->count + 1) / 2;
	samples->stride *= 2;
}

static int add_sample(struct samples *samples, int64_t ns)
{
	int64_t *next;

	if (!samples->stride)
		samples->stride = 1;
	if (samples->added_count++ % samples->stride)
		return 0;
	next = ARRAY_NEXT(samples->items, samples->capacity, samples->count);
	if (!next)
		return -ENOMEM;
	*next = ns;
	if (++samples->count == SAMPLES_MOST)
		thin_out(samples);
	return 0;
}

static int compare_ns(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

/* The sample below which that share of them lies; of two the lower one: first calls take longest. */
static int64_t quantile_of(struct samples *samples, double share, int64_t fallback_ns)
{
	if (!samples->count)
		return fallback_ns;
	qsort(samples->items, samples->count, sizeof(*samples->items), compare_ns);
	return samples->items[(size_t)(share * (double)(samples->count - 1))];
}

static int64_t median_of(struct samples *samples, int64_t fallback_ns)
{
	return quantile_of(samples, 0.5, fallback_ns);
}

/* Of what lies between the outliers on both sides: where something takes now 1 and now 9 us, as a copy behind a
 * graph in tests/pairs/device_graph.naive, only the mean gives the time of the whole. */
static int64_t middle_mean_of(struct samples *samples, int64_t fallback_ns)
{
	size_t share = (size_t)(OUTLIER_SHARE * (double)samples->count);
	size_t outlier_count = samples->count < OUTLIERS_TOLD ? 0 : share ? share : 1;
	double sum_ns = 0;

	if (!samples->count)
		return fallback_ns;
	qsort(samples->items, samples->count, sizeof(*samples->items), compare_ns);
	for (size_t i = outlier_count; i < samples->count - outlier_count; i++)
		sum_ns += (double)samples->items[i];
	return (int64_t)(sum_ns / (double)(samples->count - 2 * outlier_count));
}

static bool is_first_of_call(const struct model *model, size_t op)
{
	const struct submissions *submissions = &model->submissions;
	uint32_t call = model->profile->ops[op].call;

	return call != PROFILE_NONE &&
	       submissions_op(submissions, submissions_first(submissions, call)) == op;
}

/* A graph may end with what is not recorded. */
static bool is_usual(enum latency_gap gap, int64_t gap_ns)
{
	return gap == GAP_AFTER_GRAPH || gap_ns < PROMPT_NS;
}

static int sample_gap(struct device_samples *samples, const struct model *model, size_t index,
		      int64_t gap_ns)
{
	enum latency_gap gap =
		latencies_gap_after(model, model_predecessor(model, index), (uint32_t)index);

	return is_usual(gap, gap_ns) ? add_sample(&samples->gaps[gap], gap_ns) : 0;
}

static int sample_queued(struct device_samples *samples, const struct model *model, size_t index)
{
	const struct profile_op *op = &model->profile->ops[index];
	uint32_t before = model_predecessor(model, index);
	int64_t ready_ns = model_ready_ns(model, index);
	int rc;

	if (before == PROFILE_NONE)
		return 0;
	rc = add_sample(&samples->behind[latencies_gap_after(model, before, (uint32_t)index)],
			op->start_ns - ready_ns);
	if (rc < 0)
		return rc;
	return !model->op_traits[index].is_called_back && ready_ns > queued_by_ns(model, index)
		       ? sample_gap(samples, model, index, op->start_ns - ready_ns)
		       : 0;
}

/* One or two operations that were queued, where hardly any were, are outliers themselves: one copy that began 8.4 us
 * after its kernel, of 1,116 in tests/pairs/conditional_while.naive. */
static void drop_outliers(struct device_samples *samples, int gap)
{
	struct samples *gaps = &samples->gaps[gap];

	if (gaps->count < OUTLIERS_TOLD &&
	    (double)gaps->count < OUTLIER_SHARE * (double)samples->behind[gap].added_count)
		gaps->count = gaps->added_count = 0;
}

/* Launches onto an idle stream, and onto one that had work until shortly before. */
static int sample_start(struct device_samples *samples, const struct device_latencies *device,
			const struct model *model, size_t index)
{
	const struct profile_op *op = &model->profile->ops[index];
	const struct profile_call *call = &model->profile->calls[op->call];
	struct launch_samples *launch = &samples->launches[launch_index(model, op)];
	int64_t start_ns = op->start_ns - call->start_ns - latencies_extension_ns(model, op);
	int64_t ready_ns = model_ready_ns(model, index);

	if (!is_prompt(model->profile, op))
		return 0;
	if (model_is_idle(model, index))
		return add_sample(&launch->idle, start_ns);
	if (ready_ns <= call->start_ns + QUEUED_NS) {
		int rc = add_sample(&launch->prompt, start_ns);

		launch->late_count += op->start_ns - ready_ns > LATE_GAPS * device->kernel_gap_ns;
		if (rc < 0)
			return rc;
	}
	return add_sample(&launch->busy, start_ns);
}

/* Without what reading counters took: where all calls were counted, that would be usual. */
static int sample_call(struct device_samples *samples, const struct model *model, size_t index)
{
	const struct profile_op *op = &model->profile->ops[index];
	const struct profile_call *call = &model->profile->calls[op->call];
	int64_t counting_ns = model_profiler_ns(model, call->thread, call->start_ns, call->end_ns);

	return add_sample(&samples->launches[launch_index(model, op)].calls,
			  call->end_ns - call->start_ns - counting_ns);
}

/* The commonest call of a class; NULL: there is none. */
static const struct launch_latencies *common_launch(const struct device_latencies *device,
						    const struct device_samples *samples,
						    const struct model *model,
						    enum profile_call_class call_class)
{
	const struct launch_latencies *common = NULL;
	size_t most_count = 0;

	for (size_t i = 0; i < samples->launch_count; i++) {
		const struct profile_call_name *name =
			&model->profile->call_names[i / LATENCY_KIND_COUNT];

		if (name->call_class != call_class ||
		    samples->launches[i].calls.added_count <= most_count)
			continue;
		most_count = samples->launches[i].calls.added_count;
		common = &device->launches[i];
	}
	return common;
}

/* Where nothing was queued: as in other recordings, but no more than what lay there at least, as their calls came late. */
static int64_t unqueued_ns(struct samples *behind, int gap)
{
	int64_t least_ns = quantile_of(behind, LEAST_SHARE, unqueued_gap_ns[gap]);

	return least_ns < unqueued_gap_ns[gap] ? least_ns : unqueued_gap_ns[gap];
}

/* First how long calls take and what lies between operations, then what lies between the two. */
static int sample(struct device_samples *samples, struct device_latencies *device,
		  const struct model *model, const struct profile_device *ops)
{
	size_t end_op = ops->first_op + ops->op_count;
	int rc = 0;

	for (size_t i = ops->first_op; rc == 0 && i < end_op; i++)
		if (is_first_of_call(model, i)) {
			rc = sample_call(samples, model, i);
			if (rc == 0)
				rc = sample_queued(samples, model, i);
		}
	for (size_t i = 0; i < samples->launch_count; i++)
		device->launches[i].call_ns = median_of(&samples->launches[i].calls, 0);
	device->common_kernel = common_launch(device, samples, model, CALL_LAUNCH);
	device->common_graph = common_launch(device, samples, model, CALL_GRAPH_LAUNCH);
	for (int i = 0; i < LATENCY_GAP_COUNT; i++) {
		drop_outliers(samples, i);
		device->gap_ns[i] =
			middle_mean_of(&samples->gaps[i], unqueued_ns(&samples->behind[i], i));
		device->gap_sample_count[i] = samples->gaps[i].added_count;
	}
	device->gap_ns[GAP_KERNEL_TO_LATE_COPY] =
		unqueued_ns(&samples->behind[GAP_KERNEL_TO_COPY], GAP_KERNEL_TO_COPY);
	device->kernel_gap_ns = samples->gaps[GAP_AFTER_KERNEL].count
					? median_of(&samples->gaps[GAP_AFTER_KERNEL], 0)
					: device->gap_ns[GAP_AFTER_KERNEL];
	for (size_t i = ops->first_op; rc == 0 && i < end_op; i++)
		if (is_first_of_call(model, i))
			rc = sample_start(samples, device, model, i);
	return rc;
}

/* The median of all starts on idle streams. */
static int set_launch(struct device_latencies *device, const struct device_samples *samples)
{
	struct samples all = {0};
	int rc = 0;

	for (size_t i = 0; i < samples->launch_count; i++)
		for (size_t j = 0; rc == 0 && j < samples->launches[i].idle.count; j++)
			rc = add_sample(&all, samples->launches[i].idle.items[j]);
	device->launch_sample_count = all.added_count;
	device->launch_ns = median_of(&all, LAUNCH_TO_START_NS);
	free(all.items);
	return rc;
}

static int64_t mean_of(const struct samples *samples)
{
	double sum_ns = 0;

	for (size_t i = 0; i < samples->count; i++)
		sum_ns += (double)samples->items[i];
	return samples->count ? (int64_t)(sum_ns / (double)samples->count) : 0;
}

/* On a busy stream most operations start when the one before has ended, and what the launch takes is what it
 * took at least, and no more than on an idle stream.  Or most start later, as in tests/recordings/
 * conditional_ifelse.naive, some 4 and some 12 us after their call, and only the mean gives the time of the whole. */
static void set_starts(struct launch_latencies *launch, struct launch_samples *samples,
		       int64_t any_idle_ns)
{
	bool is_late = 2 * samples->late_count > samples->prompt.added_count;

	launch->idle_ns = median_of(&samples->idle, any_idle_ns);
	launch->busy_ns = is_late ? mean_of(&samples->prompt)
				  : quantile_of(&samples->busy, LEAST_SHARE, any_idle_ns);
	if (!is_late && launch->busy_ns > launch->idle_ns)
		launch->busy_ns = launch->idle_ns;
}

static int set_latencies(struct device_latencies *device, struct device_samples *samples)
{
	int rc = set_launch(device, samples);

	for (size_t i = 0; rc == 0 && i < samples->launch_count; i++)
		set_starts(&device->launches[i], &samples->launches[i], device->launch_ns);
	return rc;
}

static void free_samples(struct device_samples *samples)
{
	for (size_t i = 0; samples->launches && i < samples->launch_count; i++) {
		free(samples->launches[i].calls.items);
		free(samples->launches[i].idle.items);
		free(samples->launches[i].busy.items);
		free(samples->launches[i].prompt.items);
	}
	for (int i = 0; i < LATENCY_GAP_COUNT; i++) {
		free(samples->gaps[i].items);
		free(samples->behind[i].items);
	}
	free(samples->launches);
}

static int measure_device(struct device_latencies *device, const struct model *model,
			  const struct profile_device *ops)
{
	size_t count = model->profile->call_name_count * LATENCY_KIND_COUNT;
	struct device_samples samples = {
		.launches = calloc(count + 1, sizeof(*samples.launches)),
		.launch_count = count,
	};
	int rc = -ENOMEM;

	device->launches = calloc(count + 1, sizeof(*device->launches));
	if (samples.launches && device->launches)
		rc = sample(&samples, device, model, ops);
	if (rc == 0)
		rc = set_latencies(device, &samples);
	free_samples(&samples);
	return rc;
}

int latencies_measure(struct model *model)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < model->profile->device_count; i++)
		rc = measure_device(&model->devices[i], model, &model->profile->devices[i]);
	return rc == 0 ? worker_slices(model->profile->op_count, MODEL_SLICE, find_gaps, model)
		       : rc;
}

void latencies_free(struct device_latencies *devices, size_t device_count)
{
	for (size_t i = 0; devices && i < device_count; i++)
		free(devices[i].launches);
	free(devices);
}
