#include "whatif/divided_run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/counters/occupancy.h"
#include "replay/job/job_run.h"
#include "replay/latencies.h"

/* Of a kernel of NCCL, each of which has an SM for itself: as many as tests/recordings/nccl_bucketed.naive shows. */
#define REDUCE_BLOCKS 24

/* ---- how long ---- */

static double waves_of(const struct profile_device *device, const struct profile_signature *launch)
{
	struct occupancy occupancy;
	double blocks = (double)launch->grid[0] * launch->grid[1] * launch->grid[2];

	if (occupancy_of(&occupancy, device, launch))
		return occupancy.waves;
	return device->sm_count ? blocks / device->sm_count : 1;
}

static double usual_share(const struct profile_device *device,
			  const struct profile_signature *launch, double waves, double gpus)
{
	double blocks = (double)launch->grid[0] * launch->grid[1] * launch->grid[2];

	if (waves > 1)
		return fmax(1 / gpus, 1 / ceil(waves));
	return blocks >= device->sm_count ? 1 / gpus : 1;
}

double divided_kernel_share(const struct profile_device *device,
			    const struct profile_signature *launch,
			    const struct divided_request *request)
{
	double gpus = (double)request->gpus, waves = waves_of(device, launch);
	bool is_by_blocks = request->divided == DIVIDED_BLOCKS ||
			    (request->divided == DIVIDED_UNKNOWN && request->end == ASSUMED_LEAST);

	if (request->is_weak)
		return 1;
	if (is_by_blocks)
		return ceil(waves / gpus) / fmax(ceil(waves), 1);
	if (request->divided == DIVIDED_THREADS || request->end == ASSUMED_MOST)
		return 1 / gpus;
	return usual_share(device, launch, waves, gpus);
}

static double share_of(const struct divided_step *step, const struct divided_request *request,
		       uint32_t index)
{
	const struct profile *profile = step->all->run.model->profile;
	const struct profile_op *op = &profile->ops[index];

	if (step->roles[index] != ROLE_DIVIDED || request->is_weak)
		return 1;
	if (op->kind == OP_KERNEL)
		return divided_kernel_share(&profile->devices[step->device],
					    &profile->signatures[op->detail], request);
	if (op->kind == OP_COPY && request->end == ASSUMED_LEAST)
		return 1;
	return 1 / (double)request->gpus;
}

/* No kernel is shorter than an empty one. */
static void shorten(struct job_run *job, const struct divided_step *step,
		    const struct divided_request *request)
{
	double least_ns = ceilings_at(step->all->run.ceilings, CEILING_kernel_step, 0);

	for (size_t i = 0; i < step->order_count; i++) {
		uint32_t op = step->order[i];
		struct task *task = &job->tasks.items[op];
		double share = share_of(step, request, op);

		if (share < 1)
			task->length_ns =
				fmax(task->length_ns * share, fmin(task->length_ns, least_ns));
	}
}

/* What all that an operation of a graph follows there has become shorter by. */
static double saved_before(const struct job_run *job, const double *saved_ns, uint32_t op)
{
	const struct profile_op *ops = job->model->profile->ops;
	uint32_t before[] = {model_predecessor(job->model, op), model_cross_stream(job->model, op)};
	double most_ns = 0;

	for (int i = 0; i < 2; i++)
		if (before[i] != PROFILE_NONE && ops[before[i]].call == ops[op].call)
			most_ns = fmax(most_ns, saved_ns[before[i]]);
	return most_ns;
}

/* Nodes of a graph keep their distance to its first one, but for what those before them have become shorter by. */
static int shorten_graphs(struct job_run *job, const struct divided_step *step)
{
	const struct profile_op *ops = job->model->profile->ops;
	size_t op_count = job->model->profile->op_count;
	double *saved_ns = calloc(op_count + 1, sizeof(*saved_ns));
	double *before_ns = calloc(op_count + 1, sizeof(*before_ns));

	for (size_t i = 0; saved_ns && before_ns && i < step->order_count; i++) {
		uint32_t op = step->order[i];

		before_ns[op] = saved_before(job, saved_ns, op);
		saved_ns[op] = before_ns[op] + (double)(ops[op].end_ns - ops[op].start_ns) -
			       job->tasks.items[op].length_ns;
	}
	for (size_t i = 0; saved_ns && before_ns && i < job->tasks.need_count; i++) {
		struct need *need = &job->tasks.needs[i];

		if (need->is_of_start && need->task < op_count && need->other < op_count)
			need->lag_ns = fmax(need->lag_ns - before_ns[need->task], 0);
	}
	free(saved_ns);
	free(before_ns);
	return saved_ns && before_ns ? 0 : -ENOMEM;
}

/* ---- adding up ---- */

/* The kernels of which the parts follow one another: as overlap_communication has it, the last ones of one name, or where
 * these are few those of the second half. */
struct makers {
	const uint32_t *order; /* of the iteration */
	size_t first, end;
	double total_ns;
};

static uint32_t name_of(const struct profile *profile, uint32_t op)
{
	return profile->ops[op].kind == OP_KERNEL
		       ? profile->signatures[profile->ops[op].detail].kernel
		       : PROFILE_NONE;
}

static bool is_maker(const struct divided_step *step, uint32_t op)
{
	return step->roles[op] == ROLE_DIVIDED && !divided_is_copy(step, op);
}

static double length_of(const struct job_run *job, const struct divided_step *step, uint32_t op)
{
	return is_maker(step, op) ? job->tasks.items[op].length_ns : 0;
}

static struct makers find_makers(const struct job_run *job, const struct divided_step *step,
				 const struct divided_iteration *iteration)
{
	const struct profile *profile = job->model->profile;
	struct makers makers = {.order = step->order};
	size_t end = iteration->first;
	double all_ns = 0;

	for (size_t i = iteration->first; i < iteration->end; i++) {
		all_ns += length_of(job, step, step->order[i]);
		if (step->order[i] == iteration->last) {
			end = i + 1;
			break;
		}
	}
	makers.first = makers.end = end;
	while (makers.first > iteration->first) {
		uint32_t op = step->order[makers.first - 1];

		if (is_maker(step, op) &&
		    name_of(profile, op) != name_of(profile, iteration->last) &&
		    2 * makers.total_ns >= all_ns)
			break;
		makers.total_ns += length_of(job, step, op);
		makers.first--;
	}
	return makers;
}

/* Parts, each behind the kernel with which its share is done, and behind the part before. */
static int add_parts(struct job_run *job, const struct divided_step *step,
		     const struct divided_request *request, const struct makers *makers,
		     uint32_t *index)
{
	const struct model *model = job->model;
	double event_ns = ceilings_at(step->all->run.ceilings, CEILING_event_wait, 0);
	double gap_ns = (double)model->devices[step->device].kernel_gap_ns, done_ns = 0;
	uint32_t sm_count = model->profile->devices[step->device].sm_count;
	struct task part = {.length_ns = reduce_ns(request->times,
						   request->bytes / (double)request->parts,
						   request->end),
			    .device = (uint32_t)step->device,
			    .meeting = TASK_NONE,
			    .kind = TASK_COMMUNICATION};
	uint64_t next = 0;
	int rc = 0;

	if (request->end != ASSUMED_MOST && sm_count > REDUCE_BLOCKS)
		part.sm_share = (double)REDUCE_BLOCKS / sm_count;
	for (size_t i = makers->first; rc == 0 && i < makers->end; i++) {
		uint32_t op = makers->order[i];

		done_ns += length_of(job, step, op);
		while (rc == 0 && is_maker(step, op) && next < request->parts &&
		       (i + 1 == makers->end || done_ns * (double)request->parts >=
							(double)(next + 1) * makers->total_ns)) {
			uint32_t before = *index;

			rc = tasks_add(&job->tasks, &part, index);
			if (rc == 0)
				rc = tasks_need(&job->tasks, *index, op, false,
						request->parts > 1 ? event_ns : gap_ns);
			if (rc == 0 && next)
				rc = tasks_need(&job->tasks, *index, before, false, gap_ns);
			next++;
		}
	}
	return rc;
}

/* All that followed the gradients follows their sums. */
static void hand_over(struct job_run *job, const uint32_t *sums, size_t need_count)
{
	size_t op_count = job->model->profile->op_count;

	for (size_t i = 0; i < need_count; i++) {
		struct need *need = &job->tasks.needs[i];

		if (!need->is_of_start && need->other < op_count && sums[need->other] != TASK_NONE)
			need->other = sums[need->other];
	}
}

/* The host launches each part, and where there are several records an event for each. */
static void add_launches(struct job_run *job, const struct divided_step *step,
			 const struct divided_request *request, uint32_t last)
{
	uint32_t call = job->model->profile->ops[last].call;

	if (call != PROFILE_NONE)
		job->tasks.items[job_run_task_of_call(job, call)].length_ns +=
			(double)request->parts * (double)step->all->run.costs->launch_call_ns;
}

static int add_reduces(struct job_run *job, const struct divided_step *step,
		       const struct divided_request *request)
{
	size_t op_count = job->model->profile->op_count, need_count = job->tasks.need_count;
	uint32_t *sums = malloc((op_count + 1) * sizeof(*sums));
	int rc = sums ? 0 : -ENOMEM;

	for (size_t i = 0; sums && i < op_count; i++)
		sums[i] = TASK_NONE;
	for (size_t i = 0; rc == 0 && i < step->iteration_count; i++) {
		const struct divided_iteration *iteration = &step->iterations[i];
		struct makers makers;

		if (iteration->last == PROFILE_NONE)
			continue;
		makers = find_makers(job, step, iteration);
		rc = add_parts(job, step, request, &makers, &sums[iteration->last]);
		add_launches(job, step, request, iteration->last);
	}
	if (rc == 0)
		hand_over(job, sums, need_count);
	free(sums);
	return rc;
}

/* ---- all ---- */

static double simulated_end_ns(const struct divided_step *step, const struct job_run *job,
			       const struct divided_iteration *iteration)
{
	double end_ns = -INFINITY;

	for (size_t i = iteration->first; i < iteration->end; i++)
		end_ns = fmax(end_ns, job->tasks.items[step->order[i]].end_ns);
	return end_ns;
}

static double usual_ns(const struct divided_step *step, const struct job_run *job)
{
	double sum_ns = 0, last_ns = 0;

	for (size_t i = 0; i < step->iteration_count; i++) {
		double end_ns = simulated_end_ns(step, job, &step->iterations[i]);

		if (step->iterations[i].first == step->iterations[i].end)
			continue;
		if (step->iterations[i].is_usual)
			sum_ns += end_ns - last_ns;
		last_ns = end_ns;
	}
	return step->usual_count ? sum_ns / (double)step->usual_count : 0;
}

int divided_step_simulate(double *out_ns, const struct divided_step *step,
			  const struct divided_request *request)
{
	const struct what_ifs *all = step->all;
	struct job_run job;
	int rc = job_run_open(&job, all->run.model, NULL, request->end != ASSUMED_MOST);

	*out_ns = 0;
	if (rc == 0 && request->gpus > 1)
		shorten(&job, step, request);
	if (rc == 0 && request->gpus > 1)
		rc = shorten_graphs(&job, step);
	if (rc == 0 && request->gpus > 1 && request->bytes > 0)
		rc = add_reduces(&job, step, request);
	if (rc == 0)
		rc = tasks_run(&job.tasks);
	if (rc == 0)
		*out_ns = usual_ns(step, &job);
	job_run_free(&job);
	return rc;
}
