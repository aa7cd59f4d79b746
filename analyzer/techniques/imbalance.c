#include "techniques/imbalance.h"

#define MOST_BALANCE 0.7
#define LEAST_TAIL 0.3

bool imbalance_is_there(const struct sm_activity_kernel *kernel)
{
	const struct sm_activity_filled *filled = &kernel->filled;

	return filled->busiest_sm > 0 && filled->sms < MOST_BALANCE * filled->busiest_sm &&
	       (double)filled->tail_ns >= LEAST_TAIL * (double)filled->span_ns;
}

int64_t imbalance_time_ns(const struct profile *profile, uint32_t kernel)
{
	int64_t time_ns = 0;

	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		if (op->kind == OP_KERNEL && op->detail != PROFILE_NONE &&
		    profile->signatures[op->detail].kernel == kernel &&
		    sm_activity_is_filled(&profile->devices[op->device],
					  &profile->signatures[op->detail]))
			time_ns += op->end_ns - op->start_ns;
	}
	return time_ns;
}
