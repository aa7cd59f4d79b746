#include "analysis/time/timeline.h"

#include "base/ns.h"
#include "base/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An operation that is running; the heap keeps the one that ends first on top. */
struct running {
	int64_t end_ns;
	uint8_t kind;
};

/*
 * One sweep over a device in time order.  Operations come sorted by start; the
 * heap gives their ends, so memory goes with how many run at once and not with
 * the length of the recording.
 */
struct sweep {
	struct timeline_device *device;
	struct running *heap;
	int64_t last_ns; /* nothing counts from then on */
	size_t count, capacity;
	size_t by_kind[OP_GRAPH + 1]; /* running now */
	int64_t now_ns;
	const struct spans *within; /* all that counts; NULL: everything */
	size_t next;		    /* of these */
};

static void advance(struct sweep *sweep, int64_t until_ns)
{
	struct timeline_device *device = sweep->device;
	int64_t to_ns = max_ns(min_ns(until_ns, sweep->last_ns), sweep->now_ns);
	int64_t step_ns = to_ns - sweep->now_ns;
	/* A whole graph counts as kernels: its other nodes are unknown. */
	size_t kernel = sweep->by_kind[OP_KERNEL] + sweep->by_kind[OP_GRAPH];
	bool copy = sweep->by_kind[OP_COPY];
	size_t level =
		sweep->count < TIMELINE_MAX_CONCURRENCY ? sweep->count : TIMELINE_MAX_CONCURRENCY;

	if (sweep->within)
		step_ns = spans_covered_next(sweep->within, &sweep->next, sweep->now_ns, to_ns);
	device->concurrency_ns[level] += step_ns;
	device->busy_ns += sweep->count ? step_ns : 0;
	device->kernel_ns += kernel ? step_ns : 0;
	sum_add_ns_times(&device->kernel_total_ns, step_ns, kernel);
	device->kernel_shared_ns += kernel > 1 ? step_ns : 0;
	device->copy_ns += copy ? step_ns : 0;
	device->memset_ns += sweep->by_kind[OP_MEMSET] ? step_ns : 0;
	device->copy_overlapped_ns += kernel && copy ? step_ns : 0;
	sweep->now_ns = to_ns;
}

static int heap_push(struct sweep *sweep, struct running item)
{
	size_t i = sweep->count;

	if (sweep->count == sweep->capacity) {
		size_t capacity = sweep->capacity ? 2 * sweep->capacity : 64;
		struct running *heap = realloc(sweep->heap, capacity * sizeof(*heap));

		if (!heap)
			return -ENOMEM;
		sweep->heap = heap;
		sweep->capacity = capacity;
	}
	sweep->count++;
	for (; i > 0 && sweep->heap[(i - 1) / 2].end_ns > item.end_ns; i = (i - 1) / 2)
		sweep->heap[i] = sweep->heap[(i - 1) / 2];
	sweep->heap[i] = item;
	return 0;
}

static struct running heap_pop(struct sweep *sweep)
{
	struct running top = sweep->heap[0], item = sweep->heap[--sweep->count];
	size_t i = 0;

	for (size_t child = 1; child < sweep->count; child = 2 * i + 1) {
		if (child + 1 < sweep->count &&
		    sweep->heap[child + 1].end_ns < sweep->heap[child].end_ns)
			child++;
		if (sweep->heap[child].end_ns >= item.end_ns)
			break;
		sweep->heap[i] = sweep->heap[child];
		i = child;
	}
	sweep->heap[i] = item;
	return top;
}

static void finish_until(struct sweep *sweep, int64_t until_ns)
{
	while (sweep->count && sweep->heap[0].end_ns <= until_ns) {
		advance(sweep, sweep->heap[0].end_ns);
		sweep->by_kind[heap_pop(sweep).kind]--;
	}
}

static int64_t last_end_ns(const struct profile *profile, const struct profile_device *slice)
{
	int64_t last_ns = INT64_MIN;

	for (size_t i = slice->first_op; i < slice->first_op + slice->op_count; i++)
		last_ns = max_ns(last_ns, profile->ops[i].end_ns);
	return last_ns;
}

bool timeline_span(const struct profile *profile, size_t device, int64_t *first_ns,
		   int64_t *last_ns)
{
	const struct profile_device *slice = &profile->devices[device];
	const struct profile_window *window = &profile->window;
	bool has_before = window->is_part && slice->outside.before != PROFILE_NONE;
	bool has_after = window->is_part && slice->outside.after != PROFILE_NONE;

	if (!slice->op_count && (!has_before || !has_after))
		return false;
	*first_ns = has_before ? profile->ops[slice->outside.before].end_ns
			       : profile->ops[slice->first_op].start_ns;
	*last_ns = has_after ? window->to_ns : last_end_ns(profile, slice);
	if (window->is_part) {
		*first_ns = max_ns(*first_ns, window->from_ns);
		*last_ns = min_ns(*last_ns, window->to_ns);
	}
	return true;
}

static int sweep_device(struct timeline_device *device, const struct profile *profile, size_t index,
			const struct spans *within)
{
	const struct profile_device *slice = &profile->devices[index];
	const struct profile_op *op = profile->ops + slice->first_op;
	const struct profile_op *end = op + slice->op_count;
	struct sweep sweep = {.device = device, .within = within};
	int rc = 0;

	if (!timeline_span(profile, index, &device->first_ns, &sweep.last_ns))
		return 0;
	sweep.now_ns = device->first_ns;
	for (; op < end && rc == 0; op++) {
		finish_until(&sweep, op->start_ns);
		advance(&sweep, op->start_ns);
		sweep.by_kind[op->kind]++;
		rc = heap_push(&sweep, (struct running){op->end_ns, op->kind});
	}
	finish_until(&sweep, INT64_MAX);
	advance(&sweep, sweep.last_ns);
	device->last_ns = sweep.now_ns;
	device->wall_ns = device->last_ns - device->first_ns;
	device->idle_ns = device->wall_ns - device->busy_ns;
	free(sweep.heap);
	return rc;
}

int timeline_build(struct timeline **out, const struct profile *profile, struct err *err)
{
	struct timeline *timeline = calloc(1, sizeof(*timeline));
	int rc = 0;

	if (!timeline)
		return err_set(err, -ENOMEM, "out of memory for the timeline");
	timeline->device_count = profile->device_count;
	timeline->devices = calloc(profile->device_count + 1, sizeof(*timeline->devices));
	if (!timeline->devices)
		rc = -ENOMEM;
	for (size_t i = 0; rc == 0 && i < profile->device_count; i++)
		rc = sweep_device(&timeline->devices[i], profile, i, NULL);
	if (rc < 0) {
		timeline_free(timeline);
		return err_set(err, rc, "out of memory for the timeline");
	}
	*out = timeline;
	return 0;
}

int timeline_concurrency(int64_t concurrency_ns[TIMELINE_MAX_CONCURRENCY + 1],
			 const struct profile *profile, size_t device, const struct spans *within)
{
	struct timeline_device times = {0};
	int rc = sweep_device(&times, profile, device, within);

	memcpy(concurrency_ns, times.concurrency_ns, sizeof(times.concurrency_ns));
	return rc;
}

void timeline_free(struct timeline *timeline)
{
	if (!timeline)
		return;
	free(timeline->devices);
	free(timeline);
}
