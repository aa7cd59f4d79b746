/*
 * balance_ranks.c - ranks take work from one another, so that none waits for the one that got most.
 */
#include "techniques/balance_ranks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/statistics/library_kernel.h"
#include "techniques/job_application.h"
#include "techniques/techniques.h"

/* Of what ranks differ by, at the low end. */
#define LEAST_SHARE 0.5

static const char all_equal[] =
	"no kernel that all ranks launch equally often takes longer on one of them";

/* ---- what belongs together ---- */

static int compare_launches(const void *left, const void *right)
{
	const struct rank_launch *a = left, *b = right;

	if (a->kernel != b->kernel)
		return a->kernel < b->kernel ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->op > b->op) - (a->op < b->op);
}

/* Operations of a rank, which has one GPU of one process, come by start. */
static size_t gather(struct rank_balance *out, const struct profile *profile,
		     const bool *is_between_gpus)
{
	size_t count = 0;

	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		if (op->kind != OP_KERNEL ||
		    is_between_gpus[profile->signatures[op->detail].kernel])
			continue;
		out->launches[count++] =
			(struct rank_launch){profile->signatures[op->detail].kernel,
					     job_run_rank_of(profile, op), (uint32_t)i, false};
	}
	return count;
}

/* Numbers that ranks have in place of those of job_run.h. */
static int number_ranks(struct rank_balance *out, const struct profile *profile, size_t count)
{
	size_t most = profile->process_count * profile->device_count;
	uint32_t *numbers = calloc(most + 1, sizeof(*numbers));

	for (size_t i = 0; numbers && i < count; i++) {
		uint32_t *number = &numbers[out->launches[i].rank];

		if (!*number)
			*number = (uint32_t)++out->rank_count;
		out->launches[i].rank = *number - 1;
	}
	free(numbers);
	return numbers ? 0 : -ENOMEM;
}

static double length_ns(const struct profile *profile, uint32_t op)
{
	return (double)(profile->ops[op].end_ns - profile->ops[op].start_ns);
}

/* Whether all ranks have as many of [first, end), which are of one kernel. */
static bool are_alike(const struct rank_balance *balance, size_t first, size_t end)
{
	size_t each = (end - first) / balance->rank_count;

	if (each * balance->rank_count != end - first)
		return false;
	for (size_t i = first; i < end; i++)
		if (balance->launches[i].rank != (i - first) / each)
			return false;
	return true;
}

static int compare_reals(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* Of the launches of a rank; lengths_ns has room for them. */
static void mark_outliers(struct rank_launch *launches, size_t count, const struct profile *profile,
			  double *lengths_ns)
{
	double most_ns;

	for (size_t i = 0; i < count; i++)
		lengths_ns[i] = length_ns(profile, launches[i].op);
	qsort(lengths_ns, count, sizeof(*lengths_ns), compare_reals);
	most_ns = BALANCE_OUTLIER * lengths_ns[(count - 1) * 9 / 10];
	for (size_t i = 0; i < count; i++)
		launches[i].is_outlier = length_ns(profile, launches[i].op) > most_ns;
}

bool rank_balance_is_usual(const struct rank_balance *balance, const struct unequal_kernel *kernel,
			   size_t index)
{
	for (size_t rank = 0; rank < balance->rank_count; rank++)
		if (balance->launches[kernel->first + rank * kernel->launch_count + index]
			    .is_outlier)
			return false;
	return true;
}

static void add_launch(struct unequal_kernel *kernel, const struct rank_balance *balance,
		       const struct profile *profile, size_t index)
{
	double longest = 0, sum = 0;

	for (size_t rank = 0; rank < balance->rank_count; rank++) {
		double ns = length_ns(
			profile,
			balance->launches[kernel->first + rank * kernel->launch_count + index].op);

		longest = fmax(longest, ns);
		sum += ns;
	}
	kernel->longest_ns += longest;
	kernel->mean_ns += sum / (double)balance->rank_count;
	kernel->usual_count++;
}

static int add_kernel(struct rank_balance *out, const struct profile *profile, size_t first,
		      size_t end)
{
	struct unequal_kernel kernel = {.kernel = out->launches[first].kernel,
					.first = first,
					.launch_count = (end - first) / out->rank_count};
	double *lengths_ns = malloc((kernel.launch_count + 1) * sizeof(*lengths_ns));

	if (!lengths_ns)
		return -ENOMEM;
	for (size_t rank = 0; rank < out->rank_count; rank++)
		mark_outliers(&out->launches[first + rank * kernel.launch_count],
			      kernel.launch_count, profile, lengths_ns);
	free(lengths_ns);
	for (size_t i = 0; i < kernel.launch_count; i++)
		if (rank_balance_is_usual(out, &kernel, i))
			add_launch(&kernel, out, profile, i);
	if (kernel.longest_ns > BALANCE_LEAST * kernel.mean_ns)
		out->kernels[out->kernel_count++] = kernel;
	return 0;
}

static int find(struct rank_balance *out, const struct profile *profile,
		const bool *is_between_gpus)
{
	size_t count = gather(out, profile, is_between_gpus), next;
	int rc = number_ranks(out, profile, count);

	if (rc < 0 || out->rank_count < 2)
		return rc;
	qsort(out->launches, count, sizeof(*out->launches), compare_launches);
	for (size_t first = 0; rc == 0 && first < count; first = next) {
		next = first + 1;
		while (next < count && out->launches[next].kernel == out->launches[first].kernel)
			next++;
		if (are_alike(out, first, next))
			rc = add_kernel(out, profile, first, next);
	}
	return rc;
}

int rank_balance_find(struct rank_balance *out, const struct profile *profile)
{
	bool *is_between_gpus = calloc(profile->kernel_name_count + 1, sizeof(*is_between_gpus));
	int rc = is_between_gpus ? 0 : -ENOMEM;

	*out = (struct rank_balance){.launches =
					     calloc(profile->op_count + 1, sizeof(*out->launches)),
				     .kernels = calloc(profile->kernel_name_count + 1,
						       sizeof(*out->kernels))};
	if (!out->launches || !out->kernels)
		rc = -ENOMEM;
	for (size_t i = 0; rc == 0 && i < profile->kernel_name_count; i++)
		is_between_gpus[i] = library_kernel_is_between_gpus(profile->kernel_names[i]);
	if (rc == 0)
		rc = find(out, profile, is_between_gpus);
	free(is_between_gpus);
	return rc;
}

void rank_balance_free(struct rank_balance *balance)
{
	free(balance->launches);
	free(balance->kernels);
	*balance = (struct rank_balance){0};
}

/* ---- the technique ---- */

/* Each rank takes as long as the mean of all, or at the low end comes half of the way. */
static void balance_launch(struct job_application *application, const struct rank_balance *balance,
			   const struct unequal_kernel *kernel, size_t index)
{
	struct task *tasks = application->job.tasks.items;
	const struct rank_launch *launches = &balance->launches[kernel->first + index];
	double share = application->end == ASSUMED_LEAST ? LEAST_SHARE : 1, sum_ns = 0;

	for (size_t rank = 0; rank < balance->rank_count; rank++)
		sum_ns += tasks[launches[rank * kernel->launch_count].op].length_ns;
	for (size_t rank = 0; rank < balance->rank_count; rank++) {
		uint32_t op = launches[rank * kernel->launch_count].op;

		tasks[op].length_ns +=
			share * (sum_ns / (double)balance->rank_count - tasks[op].length_ns);
		application->is_changed[op] = true;
	}
	application->effect->changed_count += balance->rank_count;
}

static const char *change_job(struct job_application *application)
{
	struct rank_balance balance;

	application->rc = rank_balance_find(&balance, application->job.model->profile);
	for (size_t i = 0; application->rc == 0 && i < balance.kernel_count; i++)
		for (size_t j = 0; j < balance.kernels[i].launch_count; j++)
			if (rank_balance_is_usual(&balance, &balance.kernels[i], j))
				balance_launch(application, &balance, &balance.kernels[i], j);
	rank_balance_free(&balance);
	return application->effect->changed_count ? NULL : all_equal;
}

const struct technique technique_balance_ranks = {
	.id = "balance_ranks",
	.option = "steal",
	.help = "ranks take work from each other, so that all take equally long",
	.effect =
		"A kernel that all ranks launch equally often, and that takes longer on some of them, takes the mean of "
		"all of them on each: ranks take work from each other, as from a queue in one GPU's memory. All ranks are "
		"re-simulated together.",
	.changed = "launches take equally long on all ranks",
	.assumes =
		"what a rank has to do can be divided as finely as one likes, any rank can do it, and taking it from "
		"another GPU costs nothing; at the low end ranks differ by half as much as they did",
	.refusal = all_equal,
	.always_assumes = true,
	.is_up_to = true,
	.has_ops = true,
	.has_lanes = true,
	.bound = BOUND_BUSY | BOUND_ENGINES | BOUND_STAGED,
	.spread = SPREAD_KERNELS,
	.change_job = change_job,
};
