#include "trace/profile_select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/samples.h"

static bool begins_before(const struct profile_part *part, const struct profile_op *op)
{
	return op->start_ns < part->from_ns && (part->is_from_start || op->end_ns <= part->from_ns);
}

bool profile_part_takes(const struct profile_part *part, const struct profile *profile, uint32_t op,
			struct profile_outside *outside)
{
	const struct profile_op *ops = profile->ops, *it = &ops[op];

	if (begins_before(part, it)) {
		if (outside->before == PROFILE_NONE || it->end_ns >= ops[outside->before].end_ns)
			outside->before = op;
		return false;
	}
	if (it->start_ns >= part->to_ns) {
		if (outside->after == PROFILE_NONE || it->start_ns < ops[outside->after].start_ns)
			outside->after = op;
		return false;
	}
	return true;
}

/* Working memory of one selection. */
struct selecting {
	struct profile *profile;
	const struct profile_part *part;
	bool *keeps_call;
	uint32_t *call_of; /* by calls[]: where it is afterwards, PROFILE_NONE: gone */
};

static bool reaches_into(const struct selecting *selecting, int64_t start_ns, int64_t end_ns)
{
	return end_ns >= selecting->part->from_ns && start_ns <= selecting->part->to_ns;
}

static bool keeps_thread(const struct selecting *selecting, uint32_t thread)
{
	return thread == PROFILE_NONE ||
	       selecting->part->keeps_process[selecting->profile->threads[thread].process];
}

static bool keeps_at(const struct selecting *selecting, uint32_t thread, int64_t start_ns,
		     int64_t end_ns)
{
	return keeps_thread(selecting, thread) && reaches_into(selecting, start_ns, end_ns);
}

/* ---- operations ---- */

/* The calls of the thread that launched what comes behind the part, from the last one before the part on. */
static void keep_way_to(struct selecting *selecting, const struct profile_op *op)
{
	const struct profile *profile = selecting->profile;
	size_t first, i;

	if (op->call == PROFILE_NONE)
		return;
	first = profile->threads[profile->calls[op->call].thread].first_call;
	for (i = op->call; i > first && profile->calls[i].end_ns > selecting->part->from_ns; i--)
		selecting->keeps_call[i] = true;
	selecting->keeps_call[i] = true;
}

/* An operation with what CUPTI calls it. */
struct whole_op {
	struct profile_op op;
	struct profile_op_ids ids;
};

static struct whole_op take_op(const struct profile *profile, size_t index)
{
	const struct profile_op *op = &profile->ops[index];

	return (struct whole_op){*op, profile_op_ids(profile, op)};
}

static void put_op(struct profile *profile, size_t index, const struct whole_op *whole)
{
	profile->ops[index] = whole->op;
	if (profile->op_ids)
		profile->op_ids[index] = whole->ids;
}

/* They are copied before others take their place. */
static int copy_outside(struct selecting *selecting, struct whole_op **copies)
{
	struct profile *profile = selecting->profile;
	size_t count = 0;

	*copies = malloc((2 * profile->device_count + 1) * sizeof(**copies));
	if (!*copies)
		return -ENOMEM;
	for (size_t i = 0; i < profile->device_count; i++) {
		struct profile_outside outside = selecting->part->outside[i];

		if (outside.before != PROFILE_NONE) {
			(*copies)[count++] = take_op(profile, outside.before);
			if (profile->ops[outside.before].call != PROFILE_NONE)
				selecting->keeps_call[profile->ops[outside.before].call] = true;
		}
		if (outside.after != PROFILE_NONE) {
			(*copies)[count++] = take_op(profile, outside.after);
			keep_way_to(selecting, &profile->ops[outside.after]);
		}
	}
	profile->outside_count = count;
	return 0;
}

/* Behind those of the part there is room: they were among those that went. */
static void put_outside(struct selecting *selecting, const struct whole_op *copies)
{
	struct profile *profile = selecting->profile;
	uint32_t next = (uint32_t)profile->op_count;

	for (size_t i = 0; i < profile->outside_count; i++)
		put_op(profile, profile->op_count + i, &copies[i]);
	for (size_t i = 0; i < profile->device_count; i++) {
		struct profile_outside *outside = &profile->devices[i].outside;

		*outside = selecting->part->outside[i];
		if (outside->before != PROFILE_NONE)
			outside->before = next++;
		if (outside->after != PROFILE_NONE)
			outside->after = next++;
	}
}

static void keep_ops(struct selecting *selecting)
{
	struct profile *profile = selecting->profile;
	size_t kept = 0;

	for (size_t i = 0; i < profile->device_count; i++) {
		struct profile_device *device = &profile->devices[i];
		size_t end = device->first_op + device->op_count, first = kept;

		for (size_t op = device->first_op; op < end; op++) {
			struct whole_op whole;

			if (!selecting->part->keeps_op[op])
				continue;
			if (profile->ops[op].call != PROFILE_NONE)
				selecting->keeps_call[profile->ops[op].call] = true;
			if (kept == first)
				keep_way_to(selecting, &profile->ops[op]);
			whole = take_op(profile, op);
			put_op(profile, kept++, &whole);
		}
		device->first_op = first;
		device->op_count = kept - first;
	}
	profile->op_count = kept;
}

static int select_ops(struct selecting *selecting)
{
	struct whole_op *copies;
	int rc = copy_outside(selecting, &copies);

	if (rc == 0) {
		keep_ops(selecting);
		put_outside(selecting, copies);
		free(copies);
	}
	return rc;
}

/* ---- calls, and what names them ---- */

static void select_calls_of(struct selecting *selecting, struct profile_thread *thread,
			    size_t *kept)
{
	struct profile *profile = selecting->profile;
	size_t end = thread->first_call + thread->call_count, first = *kept;

	for (size_t i = thread->first_call; i < end; i++) {
		const struct profile_call *call = &profile->calls[i];

		selecting->call_of[i] = PROFILE_NONE;
		if (!selecting->keeps_call[i] &&
		    !keeps_at(selecting, call->thread, call->start_ns, call->end_ns))
			continue;
		selecting->call_of[i] = (uint32_t)*kept;
		profile->calls[(*kept)++] = *call;
	}
	thread->first_call = first;
	thread->call_count = *kept - first;
}

static void select_calls(struct selecting *selecting)
{
	struct profile *profile = selecting->profile;
	size_t kept = 0;

	for (size_t i = 0; i < profile->thread_count; i++)
		select_calls_of(selecting, &profile->threads[i], &kept);
	profile->call_count = kept;
	for (size_t i = 0; i < profile->op_count + profile->outside_count; i++)
		if (profile->ops[i].call != PROFILE_NONE)
			profile->ops[i].call = selecting->call_of[profile->ops[i].call];
}

/* Follows the call; whether it is still there. */
static bool moves_call(const struct selecting *selecting, uint32_t *call)
{
	if (*call == PROFILE_NONE)
		return true;
	*call = selecting->call_of[*call];
	return *call != PROFILE_NONE;
}

/* Keeps the items of an array for which the condition, on `item`, holds. */
#define KEEP(array, count, condition)                             \
	do {                                                      \
		size_t kept = 0;                                  \
                                                                  \
		for (size_t i = 0; i < (count); i++) {            \
			__typeof__(*(array)) *item = &(array)[i]; \
                                                                  \
			if (condition)                            \
				(array)[kept++] = *item;          \
		}                                                 \
		(count) = kept;                                   \
	} while (0)

static void select_by_call(struct selecting *selecting)
{
	struct profile *profile = selecting->profile;

	KEEP(profile->syncs, profile->sync_count,
	     reaches_into(selecting, item->start_ns, item->end_ns) &&
		     moves_call(selecting, &item->call));
	KEEP(profile->event_calls, profile->event_call_count, moves_call(selecting, &item->call));
	KEEP(profile->untraced_calls, profile->untraced_call_count,
	     moves_call(selecting, &item->call));
	KEEP(profile->launches, profile->launch_count, moves_call(selecting, &item->call));
	KEEP(profile->loads, profile->load_count, moves_call(selecting, &item->call));
	KEEP(profile->allocations, profile->allocation_count,
	     item->time_ns <= selecting->part->to_ns);
	for (size_t i = 0; i < profile->allocation_count; i++)
		(void)moves_call(selecting, &profile->allocations[i].call);
}

/* ---- what happened at a time ---- */

static void clip(const struct selecting *selecting, int64_t *start_ns, int64_t *end_ns)
{
	if (*start_ns < selecting->part->from_ns)
		*start_ns = selecting->part->from_ns;
	if (*end_ns > selecting->part->to_ns)
		*end_ns = selecting->part->to_ns;
	if (*end_ns < *start_ns)
		*end_ns = *start_ns;
}

static void select_ranges(struct selecting *selecting)
{
	struct profile *profile = selecting->profile;
	size_t kept = 0;

	for (size_t i = 0; i < profile->thread_count; i++) {
		struct profile_thread *thread = &profile->threads[i];
		size_t end = thread->first_range + thread->range_count, first = kept;

		for (size_t k = thread->first_range; k < end; k++) {
			struct profile_range range = profile->ranges[k];

			if (!keeps_at(selecting, range.thread, range.start_ns, range.end_ns))
				continue;
			clip(selecting, &range.start_ns, &range.end_ns);
			profile->ranges[kept++] = range;
		}
		thread->first_range = first;
		thread->range_count = kept - first;
	}
	profile->range_count = kept;
}

static void select_times(struct selecting *selecting)
{
	struct profile *profile = selecting->profile;

	KEEP(profile->overheads, profile->overhead_count,
	     selecting->part->keeps_process[item->process] &&
		     reaches_into(selecting, item->start_ns, item->end_ns));
	KEEP(profile->jits, profile->jit_count,
	     keeps_at(selecting, item->thread, item->start_ns, item->end_ns));
	KEEP(profile->manageds, profile->managed_count,
	     reaches_into(selecting, item->start_ns, item->end_ns));
	KEEP(profile->powers, profile->power_count,
	     reaches_into(selecting, item->time_ns, item->time_ns));
	KEEP(profile->nccl_calls, profile->nccl_call_count,
	     keeps_at(selecting, item->thread, item->time_ns, item->time_ns));
	KEEP(profile->lost_launches, profile->lost_launch_count,
	     selecting->part->keeps_process[item->process] &&
		     reaches_into(selecting, item->start_ns, item->start_ns));
	KEEP(profile->communicators, profile->communicator_count,
	     selecting->part->keeps_process[item->process]);
	KEEP(profile->modules, profile->module_count, item->time_ns <= selecting->part->to_ns);
	for (size_t i = 0; i < profile->process_count; i++) {
		struct profile_process *process = &profile->processes[i];

		clip(selecting, &process->first_ns, &process->last_ns);
		if (process->start_ns && process->start_ns < process->first_ns)
			process->start_ns = process->first_ns;
	}
}

/* A process lasts from before all that it still has until after it. */
static void cover(struct profile_process *process, int64_t start_ns, int64_t end_ns)
{
	if (start_ns < process->first_ns)
		process->first_ns = start_ns;
	if (process->start_ns > process->first_ns)
		process->start_ns = process->first_ns;
	if (end_ns > process->last_ns)
		process->last_ns = end_ns;
}

static void cover_call(struct profile *profile, const struct profile_call *call)
{
	cover(&profile->processes[profile->threads[call->thread].process], call->start_ns,
	      call->end_ns);
}

/* Not the calls that only tell what led to an operation outside. */
static void cover_rows(const struct selecting *selecting)
{
	struct profile *profile = selecting->profile;

	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		cover(&profile->processes[profile_op_process(profile, op)], op->start_ns,
		      op->end_ns);
		if (op->call != PROFILE_NONE)
			cover_call(profile, &profile->calls[op->call]);
	}
	for (size_t i = 0; i < profile->call_count; i++)
		if (reaches_into(selecting, profile->calls[i].start_ns, profile->calls[i].end_ns))
			cover_call(profile, &profile->calls[i]);
}

/* ---- samples ---- */

/* They stay where they are: the device's slice of them becomes that of the part. */
static void select_device_samples(struct selecting *selecting, struct sample_cursor *cursor,
				  struct profile_device *device)
{
	size_t first = sample_search(cursor, device, SAMPLE_STARTS_FROM, selecting->part->from_ns);
	size_t end = sample_search(cursor, device, SAMPLE_STARTS_AFTER, selecting->part->to_ns);

	device->first_sample = first;
	device->sample_count = end > first ? end - first : 0;
	selecting->profile->sample_count += device->sample_count;
}

static int select_samples(struct selecting *selecting)
{
	struct profile *profile = selecting->profile;
	struct sample_cursor cursor = sample_cursor_open(profile);
	size_t spans = 0;

	profile->sample_count = 0;

	for (size_t i = 0; i < profile->device_count; i++) {
		struct profile_device *device = &profile->devices[i];
		size_t first_span = spans;

		select_device_samples(selecting, &cursor, device);
		for (size_t k = 0; k < device->span_count; k++) {
			struct profile_sampled_span span =
				profile->sampled_spans[device->first_span + k];

			if (!reaches_into(selecting, span.start_ns, span.end_ns))
				continue;
			clip(selecting, &span.start_ns, &span.end_ns);
			profile->sampled_spans[spans++] = span;
		}
		device->first_span = first_span;
		device->span_count = spans - first_span;
	}
	profile->sampled_span_count = spans;
	return sample_cursor_close(&cursor);
}

static void drop_run(struct profile **run)
{
	profile_free(*run);
	*run = NULL;
}

int profile_select(struct profile *profile, const struct profile_part *part)
{
	struct selecting selecting = {.profile = profile, .part = part};
	int rc = 0;

	selecting.keeps_call = calloc(profile->call_count + 1, sizeof(*selecting.keeps_call));
	selecting.call_of = calloc(profile->call_count + 1, sizeof(*selecting.call_of));
	if (selecting.keeps_call && selecting.call_of)
		rc = select_ops(&selecting);
	else
		rc = -ENOMEM;
	if (rc == 0) {
		select_calls(&selecting);
		select_by_call(&selecting);
		select_ranges(&selecting);
		select_times(&selecting);
		rc = select_samples(&selecting);
		cover_rows(&selecting);
		profile->window =
			(struct profile_window){true, part->first_ns, part->from_ns, part->to_ns,
						.is_without_samples = profile->sample_run != NULL};
		drop_run(&profile->graph_run);
		drop_run(&profile->sample_run);
	}
	free(selecting.keeps_call);
	free(selecting.call_of);
	return rc;
}
