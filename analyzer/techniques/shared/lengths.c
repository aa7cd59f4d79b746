#include "techniques/shared/lengths.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "techniques/shared/usual_changes.h"

size_t lengths_scale_kernel(struct application *application, uint32_t kernel,
			    lengths_concerns *concerns, double share)
{
	const struct profile *profile = application->run->model->profile;
	const struct profile_device *where = &profile->devices[application->device];
	struct change *change = &application->change;
	size_t changed_count = 0;

	for (size_t i = where->first_op; i < where->first_op + where->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		if (op->kind != OP_KERNEL || change->op_ns[i] ||
		    profile->signatures[op->detail].kernel != kernel ||
		    (concerns && !concerns(where, &profile->signatures[op->detail])))
			continue;
		change->op_ns[i] = 1 + (int64_t)(share * (double)(op->end_ns - op->start_ns));
		changed_count++;
	}
	return changed_count;
}

size_t lengths_keep_kernel(struct application *application, uint32_t kernel)
{
	const struct profile *profile = application->run->model->profile;
	const struct profile_device *where = &profile->devices[application->device];
	size_t changed_count = 0;

	for (size_t i = where->first_op; i < where->first_op + where->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		if (op->kind != OP_KERNEL || application->change.op_ns[i] ||
		    profile->signatures[op->detail].kernel != kernel)
			continue;
		application->change.op_ns[i] = op->end_ns - op->start_ns;
		changed_count++;
	}
	return changed_count;
}

/* What a copy of pinned memory takes beside its bytes: the middle of what was recorded, rounded. */
#define TO_DEVICE_NS 2500
#define TO_HOST_NS 1500

double lengths_pinned_copy_ns(const struct ceilings *ceilings, const struct profile_copy *copy)
{
	bool is_in = copy->kind == COPY_TO_DEVICE;
	double rate = ceilings_at(ceilings, is_in ? CEILING_h2d_pinned : CEILING_d2h_pinned, 0);

	return rate > 0 ? (double)copy->bytes / rate * 1e9 + (is_in ? TO_DEVICE_NS : TO_HOST_NS)
			: INFINITY;
}

double lengths_saved_by_pinning_ns(const struct profile *profile, const struct ceilings *ceilings,
				   const struct profile_op *op)
{
	const struct profile_copy *copy = &profile->copies[op->detail];
	double pinned_ns = lengths_pinned_copy_ns(ceilings, copy);
	double saved_ns = (double)(op->end_ns - op->start_ns) - pinned_ns;

	if (!copy->is_async && op->call != PROFILE_NONE) {
		const struct profile_call *call = &profile->calls[op->call];
		double beside_ns = ceilings_at(ceilings, CEILING_launch_to_start, 0) +
				   ceilings_at(ceilings, CEILING_synchronize, 0);

		saved_ns = fmax(saved_ns,
				(double)(call->end_ns - call->start_ns) - beside_ns - pinned_ns);
	}
	return fmax(saved_ns, 0);
}

static bool is_pageable(const struct profile_copy *copy)
{
	return copy->src_memory == MEMORY_PAGEABLE || copy->dst_memory == MEMORY_PAGEABLE;
}

/* Whether it or its call gets shorter by that. */
static bool pin_copy(struct application *application, size_t index)
{
	const struct profile *profile = application->run->model->profile;
	const struct profile_op *op = &profile->ops[index];
	const struct profile_copy *copy = &profile->copies[op->detail];
	double ns = lengths_pinned_copy_ns(application->run->ceilings, copy);

	if (!is_pageable(copy) ||
	    lengths_saved_by_pinning_ns(profile, application->run->ceilings, op) <= 0)
		return false;
	ns = fmin(ns, (double)(op->end_ns - op->start_ns));
	application->change.op_ns[index] = 1 + (int64_t)ns; /* never 0, which is as recorded */
	return true;
}

/* What a call is then that a copy of pageable memory was.  That filled a buffer of the driver before the copy started, or
 * emptied one after it, and the first of many. */
static void pin_call(struct change *change, const struct profile *profile,
		     const struct profile_op *op)
{
	bool is_async = profile->copies[op->detail].is_async;
	uint8_t *call;

	if (op->call == PROFILE_NONE)
		return;
	call = &change->calls[op->call];
	if (*call == change_number(change, &asynchronous))
		*call = change_number(change, &pinned_asynchronous);
	else if (*call == CALL_KEPT)
		*call = change_number(change, is_async ? &pinned_asynchronous : &pinned_blocking);
}

size_t lengths_pin_copies(struct application *application, bool only_lanes)
{
	const struct model *model = application->run->model;
	const struct profile_device *where = &model->profile->devices[application->device];
	struct change *change = &application->change;
	size_t changed_count = 0;

	for (size_t i = where->first_op; i < where->first_op + where->op_count; i++) {
		const struct profile_op *op = &model->profile->ops[i];

		if (op->kind != OP_COPY || change->op_ns[i] ||
		    (only_lanes && change->lanes[i] == LANE_NONE) || !pin_copy(application, i))
			continue;
		changed_count++;
		pin_call(change, model->profile, op);
	}
	return changed_count;
}

/* From the first call of each thread whose operation changes to its last one.  was_changed: by op, before; what was then
 * is so still. */
static int add_places(struct application *application, const bool *was_changed)
{
	const struct model *model = application->run->model;
	const struct profile *profile = model->profile;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->thread_count; i++) {
		const struct profile_thread *thread = &profile->threads[i];
		size_t end_call = thread->first_call + thread->call_count, first = end_call,
		       last = 0;

		for (size_t j = thread->first_call; j < end_call; j++)
			for (uint32_t k = submissions_first(&model->submissions, j);
			     k < submissions_first(&model->submissions, j + 1); k++) {
				uint32_t op = submissions_op(&model->submissions, k);

				if (application->change.op_ns[op] && !was_changed[op]) {
					first = j < first ? j : first;
					last = j;
				}
			}
		if (first < end_call)
			rc = application_add_place(application, first, last + 1);
	}
	return rc;
}

int lengths_change(struct application *application, size_t (*change)(struct application *))
{
	size_t op_count = application->run->model->profile->op_count;
	bool *was_changed = malloc((op_count + 1) * sizeof(*was_changed));
	int rc;

	if (!was_changed)
		return -ENOMEM;
	for (size_t i = 0; i < op_count; i++)
		was_changed[i] = application->change.op_ns[i] != 0;
	application->effect->changed_count = change(application);
	rc = add_places(application, was_changed);
	free(was_changed);
	return rc;
}
