#include "model/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/radix.h"
#include "base/array.h"

#define STREAM_NON_BLOCKING 2 /* CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING */
/* An operation that starts this long after its call returned had to wait for something. */
#define PROMPT_NS 20000
/* Where nothing in a recording tells, rounded: launch_to_start of docs/results/ceilings.txt, and the median gap
 * between queued kernels in tests/recordings/graph_forkjoin.naive, as CUPTI sees it. */
#define LAUNCH_TO_START_NS 5000
#define GAP_NS 1000
/* Operations of other processes and of later calls that are passed over in looking for the awaited. */
#define LOOK_BACK 256

/* ---- orders ---- */

/* A moment as two keys, the first the less significant. */
static uint32_t low_key(int64_t ns)
{
	return (uint32_t)(uint64_t)ns;
}

static uint32_t high_key(int64_t ns)
{
	return (uint32_t)((uint64_t)ns >> 32) ^ 0x80000000U;
}

static uint32_t call_low(uint32_t index, const void *context)
{
	return low_key(((const struct profile *)context)->calls[index].start_ns);
}

static uint32_t call_high(uint32_t index, const void *context)
{
	return high_key(((const struct profile *)context)->calls[index].start_ns);
}

static uint32_t end_low(uint32_t index, const void *context)
{
	return low_key(((const struct profile *)context)->ops[index].end_ns);
}

static uint32_t end_high(uint32_t index, const void *context)
{
	return high_key(((const struct profile *)context)->ops[index].end_ns);
}

static bool is_before(const struct profile *profile, size_t left, size_t right, radix_key low,
		      radix_key high)
{
	uint32_t left_high = high((uint32_t)left, profile), right_high;

	right_high = high((uint32_t)right, profile);
	return left_high < right_high ||
	       (left_high == right_high &&
		low((uint32_t)left, profile) <= low((uint32_t)right, profile));
}

/* Indexes 0 to count by a moment; NULL without memory.  Those of one thread are in order. */
static uint32_t *order_by(const struct profile *profile, size_t count, radix_key low,
			  radix_key high)
{
	uint32_t *order = malloc((count + 1) * sizeof(*order));
	uint32_t *scratch = malloc((count + 1) * sizeof(*scratch));
	bool is_sorted = true;

	if (!order || !scratch) {
		free(order);
		free(scratch);
		return NULL;
	}
	for (size_t i = 0; i < count; i++) {
		order[i] = (uint32_t)i;
		is_sorted = is_sorted && (i == 0 || is_before(profile, i - 1, i, low, high));
	}
	if (!is_sorted) {
		radix_sort(order, scratch, count, low, profile);
		radix_sort(order, scratch, count, high, profile);
	}
	free(scratch);
	return order;
}

/* Operations by end, to ask which ended last before a moment. */
struct ends {
	const struct profile *profile;
	uint32_t *order;
	size_t last; /* answer: moments that are asked for are mostly close to each other */
};

static bool has_ended(const struct ends *ends, size_t i, int64_t moment_ns)
{
	return ends->profile->ops[ends->order[i]].end_ns <= moment_ns;
}

/* How many of them had ended by then: in growing steps from the last answer on. */
static size_t ended_by(struct ends *ends, int64_t moment_ns)
{
	size_t count = ends->profile->op_count, low = ends->last, high = low, step = 1;

	for (; high < count && has_ended(ends, high, moment_ns); step *= 2) {
		low = high + 1;
		high = count - high > step ? high + step : count;
	}
	for (; low > 0 && !has_ended(ends, low - 1, moment_ns); step *= 2) {
		high = low - 1;
		low = low > step ? low - step : 0;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (has_ended(ends, middle, moment_ns))
			low = middle + 1;
		else
			high = middle;
	}
	ends->last = low;
	return low;
}

/* The operation of a process, not of that stream, that ended last by the moment and whose call began
 * before that of another one; or PROFILE_NONE.  What the device launched is replayed after all
 * calls: none waits for it. */
static uint32_t last_ended(struct ends *ends, uint32_t process, uint32_t not_stream,
			   int64_t moment_ns, int64_t submitted_before_ns)
{
	const struct profile *profile = ends->profile;
	size_t from = ended_by(ends, moment_ns), least = from > LOOK_BACK ? from - LOOK_BACK : 0;

	for (size_t i = from; i-- > least;) {
		const struct profile_op *op = &profile->ops[ends->order[i]];

		if (op->call != PROFILE_NONE && op->stream != not_stream &&
		    profile_op_process(profile, op) == process &&
		    profile->calls[op->call].start_ns < submitted_before_ns)
			return ends->order[i];
	}
	return PROFILE_NONE;
}

/* ---- calls ---- */

static bool has_text(const char *text, const char *part)
{
	return strstr(text, part) != NULL;
}

static enum call_behaviour behaviour_of(const struct model *model, size_t index)
{
	const struct profile *profile = model->profile;
	const struct profile_call_name *name = &profile->call_names[profile->calls[index].name];
	uint32_t op;

	if (name->call_class == CALL_SYNC)
		return CALL_WAITS;
	if (name->call_class == CALL_MEMORY)
		return has_text(name->text, "Free") && !has_text(name->text, "Async") ? CALL_WAITS
										      : CALL_WORKS;
	if (name->call_class != CALL_COPY || has_text(name->text, "Async") ||
	    submitted_count(&model->submitted, index) == 0)
		return CALL_WORKS;
	op = model->submitted.ops[model->submitted.first[index + 1] - 1];
	return profile->ops[op].end_ns <= profile->calls[index].end_ns ? CALL_WAITS_OWN
								       : CALL_WORKS;
}

static void find_awaited(struct model *model, struct ends *ends)
{
	const struct profile *profile = model->profile;

	for (size_t i = 0; i < profile->call_count; i++) {
		const struct profile_call *call = &profile->calls[i];
		const struct submitted *submitted = &model->submitted;

		model->behaviour[i] = (uint8_t)behaviour_of(model, i);
		model->awaited[i] = PROFILE_NONE;
		if (model->behaviour[i] == CALL_WAITS)
			model->awaited[i] = last_ended(ends, profile->threads[call->thread].process,
						       PROFILE_NONE, call->end_ns, call->start_ns);
		else if (model->behaviour[i] == CALL_WAITS_OWN)
			model->awaited[i] = submitted->ops[submitted->first[i + 1] - 1];
	}
}

/* ---- operations ---- */

struct walk {
	struct model *model;
	struct ends *ends;
	uint32_t *stream_tail; /* by stream: the operation submitted last */
	/* by process and device: the one submitted last in the legacy default stream, and the one
	 * that ended last of those in streams that it waits for */
	uint32_t *null_tail, *blocking_tail;
	bool *has_stream_wait; /* by thread: cudaStreamWaitEvent since its last operation */
};

static bool is_blocking(const struct profile_stream *stream)
{
	return stream->flag != STREAM_NON_BLOCKING;
}

/* Of two operations the one that ended later; PROFILE_NONE is none. */
static uint32_t later(const struct profile *profile, uint32_t left, uint32_t right)
{
	if (left == PROFILE_NONE || right == PROFILE_NONE)
		return left == PROFILE_NONE ? right : left;
	return profile->ops[left].end_ns >= profile->ops[right].end_ns ? left : right;
}

static size_t pair_of(const struct walk *walk, const struct profile_stream *stream)
{
	return stream->process * walk->model->profile->device_count + stream->device;
}

/* The legacy default stream and the blocking streams of its device wait for each other. */
static uint32_t find_other(const struct walk *walk, uint32_t index, bool has_wait)
{
	const struct profile *profile = walk->model->profile;
	const struct profile_op *op = &profile->ops[index];
	const struct profile_stream *stream = &profile->streams[op->stream];
	uint32_t barrier = PROFILE_NONE, other = PROFILE_NONE;

	if (has_wait)
		other = last_ended(walk->ends, stream->process, op->stream, op->start_ns,
				   profile->calls[op->call].start_ns);
	if (stream->is_null)
		barrier = walk->blocking_tail[pair_of(walk, stream)];
	else if (is_blocking(stream))
		barrier = walk->null_tail[pair_of(walk, stream)];
	if (barrier != PROFILE_NONE && profile->ops[barrier].end_ns <= op->start_ns)
		other = later(profile, other, barrier);
	return other;
}

static void note_tail(struct walk *walk, uint32_t index)
{
	const struct profile *profile = walk->model->profile;
	const struct profile_stream *stream = &profile->streams[profile->ops[index].stream];
	size_t pair = pair_of(walk, stream);

	walk->stream_tail[profile->ops[index].stream] = index;
	if (stream->is_null)
		walk->null_tail[pair] = index;
	else if (is_blocking(stream))
		walk->blocking_tail[pair] = later(profile, walk->blocking_tail[pair], index);
}

static void link_op(struct walk *walk, uint32_t index, bool has_wait)
{
	struct model *model = walk->model;
	const struct profile_op *op = &model->profile->ops[index];
	uint32_t before = walk->stream_tail[op->stream];

	/* branches of a graph may share a stream in the records and run side by side */
	for (int i = 0; i < LOOK_BACK && before != PROFILE_NONE &&
			model->profile->ops[before].end_ns > op->start_ns;
	     i++)
		before = model->before[before];
	if (before != PROFILE_NONE && model->profile->ops[before].end_ns > op->start_ns)
		before = PROFILE_NONE;
	model->before[index] = before;
	model->other[index] = find_other(walk, index, has_wait);
	note_tail(walk, index);
}

static void link_call(struct walk *walk, uint32_t index)
{
	const struct profile *profile = walk->model->profile;
	const struct submitted *submitted = &walk->model->submitted;
	const struct profile_call *call = &profile->calls[index];
	bool *has_wait = &walk->has_stream_wait[call->thread];

	if (has_text(profile->call_names[call->name].text, "StreamWait"))
		*has_wait = true;
	for (uint32_t i = submitted->first[index]; i < submitted->first[index + 1]; i++) {
		link_op(walk, submitted->ops[i], *has_wait);
		*has_wait = false;
	}
}

/* So many operations, as yet none; NULL without memory. */
static uint32_t *no_ops(size_t count)
{
	uint32_t *ops = malloc((count + 1) * sizeof(*ops));

	if (ops)
		memset(ops, 0xff, count * sizeof(*ops));
	return ops;
}

static int link_ops(struct model *model, struct ends *ends)
{
	const struct profile *profile = model->profile;
	size_t pairs = profile->process_count * profile->device_count;
	struct walk walk = {
		.model = model,
		.ends = ends,
		.stream_tail = no_ops(profile->stream_count),
		.null_tail = no_ops(pairs),
		.blocking_tail = no_ops(pairs),
		.has_stream_wait = calloc(profile->thread_count + 1, sizeof(bool)),
	};
	int rc = walk.stream_tail && walk.null_tail && walk.blocking_tail && walk.has_stream_wait
			 ? 0
			 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < profile->call_count; i++)
		link_call(&walk, model->order[i]);
	free(walk.stream_tail);
	free(walk.null_tail);
	free(walk.blocking_tail);
	free(walk.has_stream_wait);
	return rc;
}

/* ---- what steps take ---- */

struct samples {
	double *items;
	size_t count, capacity;
};

static int add_sample(struct samples *samples, int64_t ns)
{
	double *next = ARRAY_NEXT(samples->items, samples->capacity, samples->count);

	if (!next)
		return -ENOMEM;
	*next = (double)ns;
	samples->count++;
	return 0;
}

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static int64_t median_of(struct samples *samples, int64_t fallback_ns)
{
	if (!samples->count)
		return fallback_ns;
	qsort(samples->items, samples->count, sizeof(*samples->items), compare_doubles);
	return (int64_t)samples->items[samples->count / 2];
}

int64_t model_ready_ns(const struct model *model, size_t op)
{
	const struct profile_op *ops = model->profile->ops;
	int64_t ready_ns = INT64_MIN;

	if (model->before[op] != PROFILE_NONE)
		ready_ns = ops[model->before[op]].end_ns;
	if (model->other[op] != PROFILE_NONE && ops[model->other[op]].end_ns > ready_ns)
		ready_ns = ops[model->other[op]].end_ns;
	return ready_ns;
}

/* The samples of a device: launches onto an idle stream, and queued operations. */
struct device_samples {
	struct samples launch, kernel_gap, copy_gap;
};

static int sample_op(struct device_samples *samples, const struct model *model, size_t index)
{
	const struct profile_op *op = &model->profile->ops[index];
	const struct profile_call *call = &model->profile->calls[op->call];
	int64_t ready_ns = model_ready_ns(model, index);
	bool is_first = model->submitted.ops[model->submitted.first[op->call]] == index;

	if (!is_first)
		return 0;
	if (ready_ns <= call->start_ns && op->start_ns < call->end_ns + PROMPT_NS)
		return add_sample(&samples->launch, op->start_ns - call->start_ns);
	if (ready_ns > call->end_ns + PROMPT_NS / 2 && model->before[index] != PROFILE_NONE)
		return add_sample(model->profile->ops[model->before[index]].kind == OP_KERNEL
					  ? &samples->kernel_gap
					  : &samples->copy_gap,
				  op->start_ns - ready_ns);
	return 0;
}

static int measure_device(struct model *model, size_t index)
{
	const struct profile_device *device = &model->profile->devices[index];
	struct device_samples samples = {0};
	int rc = 0;

	for (size_t i = device->first_op; rc == 0 && i < device->first_op + device->op_count; i++)
		if (model->profile->ops[i].call != PROFILE_NONE)
			rc = sample_op(&samples, model, i);
	model->devices[index] = (struct model_device){
		.launch_to_start_ns = median_of(&samples.launch, LAUNCH_TO_START_NS),
		.kernel_gap_ns = median_of(&samples.kernel_gap, GAP_NS),
		.copy_gap_ns = median_of(&samples.copy_gap, GAP_NS),
		.launch_sample_count = samples.launch.count,
		.kernel_gap_sample_count = samples.kernel_gap.count,
	};
	free(samples.launch.items);
	free(samples.kernel_gap.items);
	free(samples.copy_gap.items);
	return rc;
}

int64_t model_launch_ns(const struct model *model, const struct profile_op *op)
{
	return model->devices[op->device].launch_to_start_ns;
}

int64_t model_gap_ns(const struct model *model, const struct profile_op *before)
{
	const struct model_device *device = &model->devices[before->device];

	return before->kind == OP_KERNEL ? device->kernel_gap_ns : device->copy_gap_ns;
}

/* ---- building ---- */

static int allocate(struct model *model)
{
	const struct profile *profile = model->profile;

	model->order = order_by(profile, profile->call_count, call_low, call_high);
	model->behaviour = malloc(profile->call_count + 1);
	model->awaited = malloc((profile->call_count + 1) * sizeof(*model->awaited));
	model->before = no_ops(profile->op_count);
	model->other = no_ops(profile->op_count);
	model->devices = calloc(profile->device_count + 1, sizeof(*model->devices));
	if (!model->order || !model->behaviour || !model->awaited || !model->before ||
	    !model->other || !model->devices)
		return -ENOMEM;
	return submitted_find(&model->submitted, profile);
}

static int build(struct model *model)
{
	const struct profile *profile = model->profile;
	struct ends ends = {.profile = profile};
	int rc = allocate(model);

	if (rc == 0)
		ends.order = order_by(profile, profile->op_count, end_low, end_high);
	if (rc == 0 && !ends.order)
		rc = -ENOMEM;
	if (rc == 0) {
		find_awaited(model, &ends);
		rc = link_ops(model, &ends);
	}
	free(ends.order);
	for (size_t i = 0; rc == 0 && i < profile->device_count; i++)
		rc = measure_device(model, i);
	return rc;
}

int model_build(struct model **out, const struct profile *profile, struct err *err)
{
	struct model *model = calloc(1, sizeof(*model));
	int rc = -ENOMEM;

	if (model) {
		model->profile = profile;
		rc = build(model);
	}
	if (rc < 0) {
		model_free(model);
		return err_set(err, rc, "out of memory for the model of the run");
	}
	*out = model;
	return 0;
}

void model_free(struct model *model)
{
	if (!model)
		return;
	submitted_free(&model->submitted);
	free(model->order);
	free(model->behaviour);
	free(model->awaited);
	free(model->before);
	free(model->other);
	free(model->devices);
	free(model);
}
