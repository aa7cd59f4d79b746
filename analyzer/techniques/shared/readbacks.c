#include "techniques/shared/readbacks.h"

#include <string.h>

#include "replay/calls.h"

const struct profile_op *readbacks_copy(const struct model *model, size_t call, size_t end)
{
	const struct profile *profile = model->profile;
	const struct profile_op *op;

	if (model_call_class(model, call) != CALL_COPY)
		return NULL;
	op = call_op(model, call, OP_COPY);
	if (!op || profile->copies[op->detail].kind != COPY_TO_HOST ||
	    profile->copies[op->detail].bytes > READBACK_BYTES)
		return NULL;
	if (model->call_traits[call].behavior == CALL_WAITS_OWN)
		return op;
	for (size_t i = call + 1; i < end; i++) {
		if (model_call_class(model, i) == CALL_SYNC)
			return op;
		if (submissions_count(&model->submissions, i))
			return NULL;
	}
	return NULL;
}

/* The kernel that a call launched outside of graphs; NULL for any other call. */
static const struct profile_op *launched_kernel(const struct model *model, size_t call)
{
	const struct profile_op *op = call_op(model, call, OP_KERNEL);

	return op && model_call_class(model, call) == CALL_LAUNCH ? op : NULL;
}

const struct profile_op *readbacks_next(struct readbacks *readbacks, size_t call)
{
	const struct profile_op *op;

	if (readbacks_copy(readbacks->model, call, readbacks->end)) {
		readbacks->is_read = true;
		readbacks->round++;
		return NULL;
	}
	if (!readbacks->is_read)
		return NULL;
	op = launched_kernel(readbacks->model, call);
	if (!op && submissions_count(&readbacks->model->submissions, call))
		readbacks->is_read = false;
	return op;
}

static uint64_t blocks_of(const struct profile *profile, const struct profile_op *op)
{
	const uint32_t *grid = profile->signatures[op->detail].grid;

	return (uint64_t)grid[0] * grid[1] * grid[2];
}

/* Closes the round that a kernel was launched in last: as often as in the round before, in which it was? */
static void close_round(struct readback_kernel *kernel)
{
	if (kernel->usual_count && kernel->count != kernel->usual_count)
		kernel->varies = true;
	kernel->usual_count = kernel->count;
	kernel->count = 0;
}

static void add_launch(struct readbacks *readbacks, const struct profile_op *op)
{
	const struct profile *profile = readbacks->model->profile;
	struct readback_kernel *kernel =
		&readbacks->kernels[profile->signatures[op->detail].kernel];
	uint64_t blocks = blocks_of(profile, op);

	if (kernel->round && kernel->round != readbacks->round) {
		close_round(kernel);
		kernel->varies |= readbacks->round > kernel->round + 1 && kernel->usual_count > 1;
	}
	kernel->grid_varies |= kernel->blocks && kernel->blocks != blocks;
	kernel->varies |= kernel->grid_varies;
	kernel->blocks = blocks;
	kernel->round = readbacks->round;
	kernel->count++;
}

void readbacks_collect(struct readbacks *readbacks, size_t first)
{
	memset(readbacks->kernels, 0,
	       readbacks->model->profile->kernel_name_count * sizeof(*readbacks->kernels));
	for (size_t i = first; i < readbacks->end; i++) {
		const struct profile_op *op = readbacks_next(readbacks, i);

		if (op)
			add_launch(readbacks, op);
	}
	readbacks->is_read = false;
	readbacks->round = 0;
}

bool readbacks_has_varying_grid(const struct readbacks *readbacks)
{
	for (size_t i = 0; i < readbacks->model->profile->kernel_name_count; i++)
		if (readbacks->kernels[i].grid_varies)
			return true;
	return false;
}
