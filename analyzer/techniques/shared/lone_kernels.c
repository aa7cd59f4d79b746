#include "techniques/shared/lone_kernels.h"

#include <stddef.h>

static bool has_blocks(const struct profile_op *op)
{
	return op->kind == OP_KERNEL || op->kind == OP_GRAPH;
}

struct lone_kernels lone_kernels_of(const struct profile *profile, size_t device)
{
	const struct profile_device *what = &profile->devices[device];

	return (struct lone_kernels){.profile = profile,
				     .next = what->first_op,
				     .end = what->first_op + what->op_count,
				     .last_end_ns = INT64_MIN};
}

/* Takes in the next operation that has blocks; NULL: there is none. */
static const struct profile_op *next_with_blocks(struct lone_kernels *it)
{
	while (it->next < it->end && !has_blocks(&it->profile->ops[it->next]))
		it->next++;
	return it->next < it->end ? &it->profile->ops[it->next++] : NULL;
}

/* Of the next one that has blocks, which is not taken in. */
static int64_t next_start_ns(struct lone_kernels it)
{
	const struct profile_op *op = next_with_blocks(&it);

	return op ? op->start_ns : INT64_MAX;
}

const struct profile_op *lone_kernels_next(struct lone_kernels *it)
{
	const struct profile_op *op;

	while ((op = next_with_blocks(it))) {
		bool is_alone = it->last_end_ns <= op->start_ns && next_start_ns(*it) >= op->end_ns;

		if (op->end_ns > it->last_end_ns)
			it->last_end_ns = op->end_ns;
		if (is_alone && op->kind == OP_KERNEL && !op->counted)
			return op;
	}
	return NULL;
}
