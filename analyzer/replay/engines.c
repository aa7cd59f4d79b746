#include "replay/engines.h"

#include "base/ns.h"

#define WHOLE_GPU 100 /* percent */

void engines_open(struct engines *engines)
{
	*engines = (struct engines){.copy_free_ns = {INT64_MIN, INT64_MIN},
				    .last_start_ns = INT64_MIN};
	taken_time_open(&engines->taken);
}

static enum copy_engine copy_engine_of(const struct profile *profile, const struct profile_op *op)
{
	return profile->copies[op->detail].kind == COPY_TO_HOST ? ENGINE_TO_HOST : ENGINE_TO_DEVICE;
}

static int64_t recorded_overlap_ns(const struct profile_op *left, const struct profile_op *right)
{
	return max_ns(min_ns(left->end_ns, right->end_ns) - max_ns(left->start_ns, right->start_ns),
		      0);
}

/* When a kernel that runs makes room for another one. */
static int64_t room_ns(const struct running_kernel *running, const struct profile *profile,
		       uint32_t op)
{
	return running->free_ns -
	       recorded_overlap_ns(&profile->ops[running->op], &profile->ops[op]);
}

/* Percent of the GPU that running kernels keep from another one at that moment, and when the next of them makes
 * room. */
static unsigned int taken_at(const struct engines *engines, const struct profile *profile,
			     uint32_t op, int64_t moment_ns, int64_t *next_ns)
{
	unsigned int taken = 0;

	*next_ns = INT64_MAX;
	for (size_t i = 0; i < engines->kernel_count; i++) {
		int64_t until_ns = room_ns(&engines->kernels[i], profile, op);

		if (until_ns <= moment_ns)
			continue;
		taken += engines->kernels[i].fill;
		*next_ns = min_ns(*next_ns, until_ns);
	}
	return taken;
}

int64_t engines_start_ns(const struct engines *engines, const struct profile *profile, uint32_t op,
			 unsigned int fill, int64_t start_ns)
{
	const struct profile_op *what = &profile->ops[op];
	int64_t next_ns;

	if (what->kind == OP_COPY)
		return max_ns(start_ns, engines->copy_free_ns[copy_engine_of(profile, what)]);
	if (engines->starts_early)
		return taken_time_find(&engines->taken, start_ns, what->end_ns - what->start_ns,
				       fill);
	start_ns = max_ns(start_ns, engines->last_start_ns);
	while (taken_at(engines, profile, op, start_ns, &next_ns) + fill > WHOLE_GPU &&
	       next_ns < INT64_MAX)
		start_ns = next_ns;
	return start_ns;
}

/* Kernels that have ended by then are gone; without any, the one that ends first. */
static void drop_ended(struct engines *engines, int64_t moment_ns)
{
	size_t kept_count = 0, first = 0;

	for (size_t i = 0; i < engines->kernel_count; i++)
		if (engines->kernels[i].free_ns > moment_ns)
			engines->kernels[kept_count++] = engines->kernels[i];
	engines->kernel_count = kept_count;
	if (kept_count < KERNELS_AT_ONCE)
		return;
	for (size_t i = 1; i < kept_count; i++)
		if (engines->kernels[i].free_ns < engines->kernels[first].free_ns)
			first = i;
	engines->kernels[first] = engines->kernels[--engines->kernel_count];
}

void engines_forget(struct engines *engines, int64_t moment_ns)
{
	if (engines->starts_early)
		taken_time_forget(&engines->taken, moment_ns);
}

void engines_add(struct engines *engines, const struct profile *profile, uint32_t op,
		 unsigned int fill, int64_t start_ns, int64_t free_ns)
{
	const struct profile_op *what = &profile->ops[op];

	if (what->kind == OP_COPY) {
		engines->copy_free_ns[copy_engine_of(profile, what)] = free_ns;
		return;
	}
	if (engines->starts_early) {
		taken_time_add(&engines->taken, start_ns, free_ns, fill);
		return;
	}
	engines->last_start_ns = start_ns;
	drop_ended(engines, start_ns);
	engines->kernels[engines->kernel_count++] = (struct running_kernel){op, fill, free_ns};
}
