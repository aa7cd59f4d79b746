#include "analysis/compare/jit_return.h"

#include <math.h>

static double kernels_ns(const struct profile *profile)
{
	double time_ns = 0;

	for (size_t i = 0; i < profile->op_count; i++)
		if (profile->ops[i].kind == OP_KERNEL)
			time_ns += (double)(profile->ops[i].end_ns - profile->ops[i].start_ns);
	return time_ns;
}

struct jit_return jit_return_of(const struct profile *before, const struct jit *before_jit,
				const struct profile *after, const struct jit *after_jit)
{
	struct jit_return found = {.cost_ns = jit_cost_ns(after_jit) - jit_cost_ns(before_jit)};

	if (!jit_is_any(after_jit) || !(found.cost_ns > 0) || !after_jit->launch_count)
		return (struct jit_return){0};
	found.launch_count = after_jit->launch_count;
	found.saved_ns = (kernels_ns(before) - kernels_ns(after)) / (double)found.launch_count;
	found.ratio = found.saved_ns * (double)found.launch_count / found.cost_ns - 1;
	if (found.saved_ns > 0)
		found.least_launches = ceil(found.cost_ns / found.saved_ns);
	return found;
}
