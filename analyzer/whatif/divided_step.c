#define _GNU_SOURCE /* strcasestr */
#include "whatif/divided_step.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/ns.h"

/* ---- what each operation goes with ---- */

static bool has_word(const char *name, const struct kept_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		if (strcasestr(name, words->items[i]))
			return true;
	return false;
}

static enum divided_role role_of(const struct divided_step *step, uint32_t index)
{
	const struct profile *profile = step->all->run.model->profile;
	const struct profile_op *op = &profile->ops[index];

	if (profile_op_device(profile, op) != step->device)
		return ROLE_NONE;
	if (op->kind == OP_KERNEL)
		return step->is_kept[profile->signatures[op->detail].kernel] ? ROLE_KEPT
									     : ROLE_DIVIDED;
	if (op->kind == OP_COPY && (profile->copies[op->detail].kind == COPY_TO_DEVICE ||
				    profile->copies[op->detail].kind == COPY_TO_HOST))
		return ROLE_DIVIDED;
	return op->kind == OP_GRAPH ? ROLE_DIVIDED : ROLE_NONE;
}

/* Gradients are ready before the longest run of kernels that are kept, which apply them; else at the end. */
static uint32_t find_last(const struct divided_step *step,
			  const struct divided_iteration *iteration)
{
	const struct profile *profile = step->all->run.model->profile;
	uint32_t last = PROFILE_NONE, found = PROFILE_NONE;
	int64_t run_ns = 0, longest_ns = 0;

	for (size_t i = iteration->first; i < iteration->end; i++) {
		uint32_t op = step->order[i];

		if (step->roles[op] == ROLE_NONE || divided_is_copy(step, op))
			continue;
		if (step->roles[op] == ROLE_DIVIDED) {
			last = op;
			run_ns = 0;
			continue;
		}
		run_ns += profile->ops[op].end_ns - profile->ops[op].start_ns;
		if (last != PROFILE_NONE && run_ns > longest_ns) {
			longest_ns = run_ns;
			found = last;
		}
	}
	return found != PROFILE_NONE ? found : last;
}

/* ---- which steps ---- */

static void add_op(struct divided_step *step, uint32_t index)
{
	step->roles[index] = role_of(step, index);
	step->order[step->order_count++] = index;
}

static struct divided_iteration *begin_iteration(struct divided_step *step)
{
	struct divided_iteration *next =
		ARRAY_NEXT(step->iterations, step->iteration_capacity, step->iteration_count);

	if (next)
		*next = (struct divided_iteration){.first = step->order_count};
	return next;
}

static void end_iteration(struct divided_step *step)
{
	struct divided_iteration *iteration = &step->iterations[step->iteration_count++];

	iteration->end = step->order_count;
	iteration->last = find_last(step, iteration);
}

/* Of what goes with samples, how long it runs before a kernel that is kept, on average of those: a step's own is longer
 * than half of it, what lies among the kernels that apply its gradients is not. */
static double least_between_ns(const struct divided_step *step)
{
	const struct profile *profile = step->all->run.model->profile;
	const struct profile_device *device = &profile->devices[step->device];
	double sum_ns = 0, since_ns = 0;
	size_t count = 0;

	for (size_t i = device->first_op; i < device->first_op + device->op_count; i++) {
		enum divided_role role = role_of(step, (uint32_t)i);

		if (role == ROLE_KEPT && since_ns > 0) {
			sum_ns += since_ns;
			count++;
			since_ns = 0;
		} else if (role == ROLE_DIVIDED && !divided_is_copy(step, (uint32_t)i)) {
			since_ns += (double)(profile->ops[i].end_ns - profile->ops[i].start_ns);
		}
	}
	return count ? sum_ns / (double)count / 2 : INFINITY;
}

/* A step begins with what goes with samples after kernels that are kept, if there is enough of it. */
struct split {
	double since_ns, least_ns; /* of what goes with samples: since a kernel that is kept */
	bool is_after_kept;
	size_t begun; /* of order[]: the first operation after that kernel */
};

static int split_before(struct divided_step *step, struct split *split)
{
	struct divided_iteration *next;

	if (!split->is_after_kept || !(split->since_ns > split->least_ns))
		return 0;
	if (step->iteration_count)
		step->iterations[step->iteration_count - 1].end = split->begun;
	next = begin_iteration(step);
	if (!next)
		return -ENOMEM;
	next->first = split->begun;
	step->iteration_count++;
	split->is_after_kept = false;
	return 0;
}

static int find_by_kept(struct divided_step *step)
{
	const struct profile *profile = step->all->run.model->profile;
	const struct profile_device *device = &profile->devices[step->device];
	struct split split = {.least_ns = least_between_ns(step)};
	int rc = isinf(split.least_ns) ? -ENOENT : 0;

	for (size_t i = device->first_op; rc == 0 && i < device->first_op + device->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		add_op(step, (uint32_t)i);
		if (step->roles[i] == ROLE_KEPT) {
			split.is_after_kept = true;
			split.since_ns = 0;
			split.begun = step->order_count;
		} else if (step->roles[i] == ROLE_DIVIDED && !divided_is_copy(step, (uint32_t)i)) {
			split.since_ns += (double)(op->end_ns - op->start_ns);
			rc = split_before(step, &split);
		}
	}
	if (step->iteration_count) /* its end was not seen */
		step->iteration_count--;
	for (size_t i = 0; rc == 0 && i < step->iteration_count; i++)
		step->iterations[i].last = find_last(step, &step->iterations[i]);
	return rc == -ENOENT ? 0 : rc;
}

static int add_steady(const struct steady_iteration *steady, void *context)
{
	struct divided_step *step = context;
	const struct submissions *submissions = &step->all->run.model->submissions;

	if (!begin_iteration(step))
		return -ENOMEM;
	for (uint32_t i = submissions_first(submissions, steady->first_call);
	     i < submissions_first(submissions, steady->end_call); i++)
		add_op(step, submissions_op(submissions, i));
	end_iteration(step);
	return 0;
}

static void forget(struct divided_step *step)
{
	step->iteration_count = step->order_count = 0;
	memset(step->roles, ROLE_NONE, step->all->run.model->profile->op_count);
}

static int find_steady(struct divided_step *step)
{
	const struct steady_state *state = step->all->run.report->steady_state;
	const struct model *model = step->all->run.model;

	forget(step);
	if (!state || !state->devices[step->device].is_found)
		return 0;
	return steady_loop_visit(&state->devices[step->device].loop,
				 &(struct looped_run){.profile = model->profile,
						      .submissions = &model->submissions,
						      .loops = &state->repeated},
				 add_steady, step);
}

/* ---- how long a step takes ---- */

static int64_t recorded_end_ns(const struct divided_step *step,
			       const struct divided_iteration *iteration)
{
	int64_t end_ns = INT64_MIN;

	for (size_t i = iteration->first; i < iteration->end; i++)
		end_ns = max_ns(end_ns, step->all->run.model->profile->ops[step->order[i]].end_ns);
	return end_ns;
}

static int compare_ns(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

static int mark_usual(struct divided_step *step)
{
	int64_t *sorted = malloc((step->iteration_count + 1) * sizeof(*sorted)), last_ns = 0;
	size_t count = 0;

	for (size_t i = 0; sorted && i < step->iteration_count; i++) {
		struct divided_iteration *iteration = &step->iterations[i];
		int64_t end_ns = recorded_end_ns(step, iteration);

		if (iteration->first == iteration->end)
			continue;
		if (i && end_ns > last_ns)
			sorted[count++] = iteration->recorded_ns = end_ns - last_ns;
		last_ns = end_ns;
	}
	if (sorted)
		qsort(sorted, count, sizeof(*sorted), compare_ns);
	for (size_t i = 0; count && i < step->iteration_count; i++) {
		struct divided_iteration *iteration = &step->iterations[i];

		iteration->is_usual = iteration->recorded_ns >= max_ns(sorted[count / 10], 1) &&
				      iteration->recorded_ns <= sorted[count - 1 - count / 10];
		step->usual_count += iteration->is_usual;
	}
	free(sorted);
	return sorted ? 0 : -ENOMEM;
}

static void add_kernels(struct divided_step *step)
{
	const struct profile *profile = step->all->run.model->profile;

	for (size_t i = 0; i < step->iteration_count; i++)
		for (size_t j = step->iterations[i].first; j < step->iterations[i].end; j++) {
			uint32_t op = step->order[j];

			if (step->roles[op] != ROLE_NONE && !divided_is_copy(step, op))
				*(step->roles[op] == ROLE_KEPT ? &step->kept_ns
							       : &step->divided_ns) +=
					(double)(profile->ops[op].end_ns -
						 profile->ops[op].start_ns);
		}
}

int divided_step_find(struct divided_step *step, const struct what_ifs *all, size_t device,
		      const struct kept_words *words)
{
	const struct profile *profile = all->run.model->profile;
	int rc;

	*step = (struct divided_step){.all = all, .device = device};
	step->roles = calloc(profile->op_count + 1, sizeof(*step->roles));
	step->order = calloc(profile->op_count + 1, sizeof(*step->order));
	step->is_kept = calloc(profile->kernel_name_count + 1, sizeof(*step->is_kept));
	if (!step->roles || !step->order || !step->is_kept)
		return -ENOMEM;
	for (size_t i = 0; i < profile->kernel_name_count; i++)
		step->is_kept[i] = has_word(profile->kernel_names[i], words);
	rc = find_by_kept(step);
	step->ends_with_kept = step->iteration_count >= LOOP_LEAST_ITERATIONS;
	if (rc == 0 && !step->ends_with_kept)
		rc = find_steady(step);
	if (rc < 0)
		return rc;
	add_kernels(step);
	return mark_usual(step);
}

void divided_step_free(struct divided_step *step)
{
	free(step->roles);
	free(step->order);
	free(step->is_kept);
	free(step->iterations);
	*step = (struct divided_step){0};
}
