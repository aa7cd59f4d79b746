#include "base/distribution.h"
#include "analysis/statistics/statistics_parts.h"
#include "base/sums.h"
#include "base/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of fewer operations one thread finds how times are distributed. */
#define SLICE_OPS 65536

/* Working memory of one pass over the kernels. */
struct kernel_pass {
	const struct profile *profile;
	struct durations durations; /* by kernel name */
	struct steady_cursor cursor;
	int64_t *signature_ns;		   /* by signature */
	bool *is_signature_used;	   /* by signature */
	uint32_t *last_device;		   /* by kernel name: operations come by device */
	struct kernel_statistics *by_name; /* by kernel name */
};

static uint32_t kernel_of(const struct profile *profile, const struct profile_op *op)
{
	return profile->signatures[op->detail].kernel;
}

static int pass_open(struct kernel_pass *pass, const struct profile *profile,
		     const struct steady_state *steady_state)
{
	size_t name_count = profile->kernel_name_count, signature_count = profile->signature_count;

	*pass = (struct kernel_pass){.profile = profile, .cursor = {.state = steady_state}};
	pass->signature_ns = calloc(signature_count + 1, sizeof(*pass->signature_ns));
	pass->is_signature_used = calloc(signature_count + 1, sizeof(*pass->is_signature_used));
	pass->last_device = calloc(name_count + 1, sizeof(*pass->last_device));
	pass->by_name = calloc(name_count + 1, sizeof(*pass->by_name));
	if (!pass->signature_ns || !pass->is_signature_used || !pass->last_device || !pass->by_name)
		return -ENOMEM;
	return durations_open(&pass->durations, name_count);
}

static void pass_close(struct kernel_pass *pass)
{
	durations_free(&pass->durations);
	free(pass->signature_ns);
	free(pass->is_signature_used);
	free(pass->last_device);
	free(pass->by_name);
}

/* Its own, or that of its stream. */
static int32_t priority_of(const struct profile *profile, const struct profile_op *op,
			   const struct profile_launch *launch)
{
	return launch && launch->has_priority ? launch->priority
					      : (int32_t)profile->streams[op->stream].priority;
}

/* CUPTI tells it of cudaLaunchCooperativeKernel alone, and of nodes that were captured from dependent launches, which are
 * not (captured_kernel in docs/results/check-attributes.txt): it is not known of nodes. */
static bool is_cooperative(const struct profile *profile, const struct profile_op *op,
			   const struct profile_launch *launch)
{
	uint32_t type = profile->signatures[op->detail].launch_type;

	if (profile_op_node(profile, op))
		return false;
	return type == LAUNCH_IS_COOPERATIVE || type == LAUNCH_IS_COOPERATIVE_MULTI ||
	       (launch && launch->is_cooperative);
}

/* is_first: of its kernel. */
static void add_attributes(struct kernel_pass *pass, const struct profile_op *op, bool is_first)
{
	const struct profile_launch *launch = profile_launch_of(pass->profile, op->call);
	struct kernel_statistics *kernel = &pass->by_name[kernel_of(pass->profile, op)];
	int32_t priority = priority_of(pass->profile, op, launch);

	kernel->cooperative_count += is_cooperative(pass->profile, op, launch);
	kernel->dependent_count += launch && launch->is_dependent;
	if (is_first || priority < kernel->highest_priority)
		kernel->highest_priority = priority;
	if (is_first || priority > kernel->lowest_priority)
		kernel->lowest_priority = priority;
}

/* The first of them is the kernel's device. */
static void add_device(struct kernel_pass *pass, const struct profile_op *op, bool is_first)
{
	uint32_t name = kernel_of(pass->profile, op), device = profile_op_device(pass->profile, op);

	if (!is_first && pass->last_device[name] == device)
		return;
	if (is_first)
		pass->by_name[name].device = device;
	pass->by_name[name].device_count++;
	pass->last_device[name] = device;
}

static int gather(struct kernel_pass *pass)
{
	const struct profile *profile = pass->profile;
	const struct profile_op *end = profile->ops + profile->op_count;

	for (const struct profile_op *op = profile->ops; op < end; op++)
		if (op->kind == OP_KERNEL)
			durations_count(&pass->durations, kernel_of(profile, op));
	if (durations_lay_out(&pass->durations) < 0)
		return -ENOMEM;
	for (const struct profile_op *op = profile->ops; op < end; op++) {
		uint32_t kernel;

		if (op->kind != OP_KERNEL)
			continue;
		kernel = kernel_of(profile, op);
		add_attributes(pass, op, !pass->durations.filled[kernel]);
		add_device(pass, op, !pass->durations.filled[kernel]);
		durations_add(&pass->durations, kernel, op->end_ns - op->start_ns);
		steady_split_op(&pass->by_name[kernel].split, &pass->cursor, profile, op);
		sum_add_ns(&pass->signature_ns[op->detail], op->end_ns - op->start_ns);
		pass->is_signature_used[op->detail] = true;
	}
	return 0;
}

static void choose_signatures(struct kernel_pass *pass)
{
	const struct profile *profile = pass->profile;

	for (size_t i = 0; i < profile->signature_count; i++) {
		struct kernel_statistics *kernel = &pass->by_name[profile->signatures[i].kernel];

		if (!pass->is_signature_used[i])
			continue;
		if (kernel->signature_count++ == 0 ||
		    pass->signature_ns[i] > pass->signature_ns[kernel->signature])
			kernel->signature = (uint32_t)i;
	}
}

static int compare_kernels(const void *left, const void *right)
{
	const struct kernel_statistics *a = left, *b = right;
	int order = statistics_longer_first(a->time.total_ns, b->time.total_ns);

	return order ? order : strcmp(a->name, b->name);
}

/* The times of some of the names. */
static int distribute(void *context, size_t first, size_t end)
{
	struct kernel_pass *pass = context;

	for (size_t i = first; i < end; i++)
		pass->by_name[i].time = durations_distribution(&pass->durations, i);
	return 0;
}

/* Moves the names that ran to the front of by_name[], complete. */
static size_t complete(struct kernel_pass *pass)
{
	const struct profile *profile = pass->profile;
	size_t count = 0;

	for (size_t i = 0; i < profile->kernel_name_count; i++) {
		struct kernel_statistics kernel = pass->by_name[i];

		if (!pass->durations.filled[i])
			continue;
		kernel.name = profile->kernel_names[i];
		pass->by_name[count++] = kernel;
	}
	return count;
}

int statistics_collect_kernels(struct statistics *statistics, const struct profile *profile,
			       const struct steady_state *steady_state)
{
	struct kernel_pass pass;
	int rc = pass_open(&pass, profile, steady_state);

	if (rc == 0)
		rc = gather(&pass);
	if (rc == 0) {
		choose_signatures(&pass);
		(void)worker_slices(profile->kernel_name_count,
				    profile->op_count < SLICE_OPS ? SIZE_MAX : 1, distribute,
				    &pass);
		statistics->kernel_count = complete(&pass);
		statistics->kernels = pass.by_name;
		pass.by_name = NULL;
		qsort(statistics->kernels, statistics->kernel_count, sizeof(*statistics->kernels),
		      compare_kernels);
	}
	pass_close(&pass);
	return rc;
}
