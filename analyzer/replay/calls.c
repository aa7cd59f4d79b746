#include "replay/calls.h"

#include <math.h>

const struct profile_op *call_op(const struct model *model, size_t call, unsigned int kind)
{
	const struct submissions *submissions = &model->submissions;

	for (uint32_t i = submissions_first(submissions, call),
		      end = submissions_first(submissions, call + 1);
	     i < end; i++)
		if (model->profile->ops[submissions_op(submissions, i)].kind == kind)
			return &model->profile->ops[submissions_op(submissions, i)];
	return NULL;
}

bool call_copies_to_host(const struct model *model, size_t call)
{
	const struct submissions *submissions = &model->submissions;
	const struct profile *profile = model->profile;

	for (uint32_t i = submissions_first(submissions, call),
		      end = submissions_first(submissions, call + 1);
	     i < end; i++) {
		const struct profile_op *op = &profile->ops[submissions_op(submissions, i)];

		if (op->kind == OP_COPY && profile->copies[op->detail].kind == COPY_TO_HOST)
			return true;
	}
	return false;
}

bool call_is_submitting(const struct model *model, size_t call)
{
	enum profile_call_class class = model_call_class(model, call);

	return class == CALL_LAUNCH || class == CALL_GRAPH_LAUNCH || class == CALL_COPY;
}

size_t calls_last_submitting(const struct model *model, size_t first, size_t end)
{
	while (end > first + 1 && !call_is_submitting(model, end - 1))
		end--;
	return end;
}

const struct profile_op *call_only_kernel(const struct model *model, size_t call)
{
	const struct submissions *submissions = &model->submissions;
	const struct profile_op *op;

	if (submissions_count(submissions, call) != 1 ||
	    model_call_class(model, call) != CALL_LAUNCH)
		return NULL;
	op = &model->profile
		      ->ops[submissions_op(submissions, submissions_first(submissions, call))];
	return op->kind == OP_KERNEL ? op : NULL;
}

bool call_is_capturable_copy(const struct model *model, size_t call)
{
	const struct profile_op *op = call_op(model, call, OP_COPY);
	const struct profile_copy *copy;

	if (!op)
		return true;
	copy = &model->profile->copies[op->detail];
	return model->call_traits[call].behavior != CALL_WAITS_OWN &&
	       copy->src_memory != MEMORY_PAGEABLE && copy->dst_memory != MEMORY_PAGEABLE;
}

unsigned int call_fill(const struct profile *profile, const struct profile_op *op)
{
	uint32_t sm_count = profile->devices[profile_op_device(profile, op)].sm_count;
	const uint32_t *grid;
	double blocks;

	if (op->kind != OP_KERNEL || !sm_count)
		return 100;
	grid = profile->signatures[op->detail].grid;
	blocks = (double)grid[0] * grid[1] * grid[2];
	return blocks < sm_count ? (unsigned int)fmax(round(100 * blocks / sm_count), 1) : 100;
}

int64_t call_pause_ns(const struct model *model, size_t call)
{
	const struct profile_call *calls = model->profile->calls;
	int64_t from_ns = calls[call - 1].end_ns, until_ns = calls[call].start_ns;

	return until_ns - from_ns - model_profiler_ns(model, calls[call].thread, from_ns, until_ns);
}
