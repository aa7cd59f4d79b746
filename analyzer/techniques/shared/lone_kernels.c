#include "techniques/shared/lone_kernels.h"

#include <stddef.h>

static bool has_blocks(const struct profile_op *op)
{
	return op->kind == OP_KERNEL || op->kind == OP_GRAPH;
}

static void go_on(struct lone_kernels *it)
{
	while (it->next < it->end && !has_blocks(it->next))
		it->next++;
}

struct lone_kernels lone_kernels_of(const struct profile *profile, size_t device)
{
	const struct profile_device *what = &profile->devices[device];
	struct lone_kernels it = {.next = profile->ops + what->first_op,
				  .end = profile->ops + what->first_op + what->op_count,
				  .last_end_ns = INT64_MIN};

	go_on(&it);
	return it;
}

const struct profile_op *lone_kernels_next(struct lone_kernels *it)
{
	while (it->next < it->end) {
		const struct profile_op *op = it->next++;
		bool is_alone = it->last_end_ns <= op->start_ns;

		go_on(it);
		is_alone = is_alone && (it->next == it->end || it->next->start_ns >= op->end_ns);
		if (op->end_ns > it->last_end_ns)
			it->last_end_ns = op->end_ns;
		if (is_alone && op->kind == OP_KERNEL && !op->counted)
			return op;
	}
	return NULL;
}
