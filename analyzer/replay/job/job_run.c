#define _GNU_SOURCE /* qsort_r */
#include "replay/job/job_run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"
#include "base/search.h"
#include "replay/job/blocked_launches.h"
#include "replay/latencies.h"

/* More of the SMs no kernel of communication is taken to hold. */
#define MOST_SM_SHARE 0.9

/* ---- tasks ---- */

static bool is_communication(const struct job_run *run, size_t op)
{
	uint8_t work = run->communication.works[op];

	return work == WORK_KERNEL || work == WORK_PEER || work == WORK_STAGED;
}

static enum task_kind kind_of(const struct job_run *run, size_t op)
{
	if (is_communication(run, op))
		return TASK_COMMUNICATION;
	return run->communication.works[op] == WORK_COPY ? TASK_COPY : TASK_COMPUTATION;
}

/* Of a kernel of communication: each of its blocks has an SM. */
static double sm_share_of(const struct job_run *run, size_t op)
{
	const struct profile *profile = run->model->profile;
	const struct profile_op *item = &profile->ops[op];
	uint32_t sm_count = profile->devices[profile_op_device(profile, item)].sm_count;
	const uint32_t *grid;

	if (run->communication.works[op] != WORK_KERNEL || item->kind != OP_KERNEL || !sm_count)
		return 0;
	grid = profile->signatures[item->detail].grid;
	return fmin((double)grid[0] * grid[1] * grid[2] / sm_count, MOST_SM_SHARE);
}

static int add_ops(struct job_run *run, bool shares_sms)
{
	const struct profile *profile = run->model->profile;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];
		uint32_t index;

		rc = tasks_add(&run->tasks,
			       &(struct task){.length_ns = (double)(op->end_ns - op->start_ns),
					      .from_ns = (double)(op->start_ns - run->origin_ns),
					      .sm_share = shares_sms ? sm_share_of(run, i) : 0,
					      .device = profile_op_device(profile, op),
					      .meeting = TASK_NONE,
					      .kind = kind_of(run, i)},
			       &index);
	}
	return rc;
}

/* When what a call waits for ended while it waited: its own time is then what it takes after that. */
static bool is_waiting(const struct model *model, size_t call)
{
	uint32_t awaited = model_awaited(model, call);

	return awaited != PROFILE_NONE &&
	       model->profile->ops[awaited].end_ns > model->profile->calls[call].start_ns;
}

/* What it takes by itself. */
static double own_ns(const struct model *model, size_t call)
{
	const struct profile_call *item = &model->profile->calls[call];

	if (is_waiting(model, call))
		return 0;
	return blocked_launch_room(model, call) == PROFILE_NONE
		       ? (double)(item->end_ns - item->start_ns)
		       : BLOCKED_LAUNCH_OWN_NS;
}

static int add_calls(struct job_run *run)
{
	const struct profile *profile = run->model->profile;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->call_count; i++) {
		const struct profile_call *call = &profile->calls[i];

		rc = tasks_add(&run->tasks,
			       &(struct task){.length_ns = own_ns(run->model, i),
					      .from_ns = (double)(call->start_ns - run->origin_ns),
					      .device = (uint32_t)profile->device_count,
					      .meeting = TASK_NONE,
					      .kind = TASK_HOST},
			       &run->returned[i]);
	}
	return rc;
}

/* ---- what calls need ---- */

/* It returns behind the end of an operation, or behind its start. */
static int add_return(struct job_run *run, size_t call, uint32_t op, bool is_of_start)
{
	const struct profile *profile = run->model->profile;
	const struct task item = {.device = (uint32_t)profile->device_count,
				  .meeting = TASK_NONE,
				  .kind = TASK_HOST};
	int64_t awaited_ns = is_of_start ? profile->ops[op].start_ns : profile->ops[op].end_ns;
	int rc = tasks_add(&run->tasks, &item, &run->returned[call]);

	if (rc == 0)
		rc = tasks_need(&run->tasks, run->returned[call], job_run_task_of_call(run, call),
				false, 0);
	return rc < 0 ? rc
		      : tasks_need(&run->tasks, run->returned[call], op, is_of_start,
				   (double)(profile->calls[call].end_ns - awaited_ns));
}

/* Pauses of a host that are long enough to be a wait for another thread, and how soon after that one it goes on: threads
 * wake each other within microseconds, and processes on one host that poll likewise. */
#define LEAST_PAUSE_NS 20000
#define WOKEN_SHARE 0.25

/* Calls that waited for their GPUs, by when they returned. */
struct waits {
	uint32_t *calls; /* owned */
	size_t count;
};

static int compare_ends(const void *left, const void *right, void *context)
{
	const struct profile_call *calls = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (calls[a].end_ns != calls[b].end_ns)
		return calls[a].end_ns < calls[b].end_ns ? -1 : 1;
	return (a > b) - (a < b);
}

static int find_waits(struct waits *waits, const struct job_run *run)
{
	const struct profile *profile = run->model->profile;

	waits->calls = malloc((profile->call_count + 1) * sizeof(*waits->calls));
	if (!waits->calls)
		return -ENOMEM;
	for (size_t i = 0; i < profile->call_count; i++)
		if (is_waiting(run->model, i))
			waits->calls[waits->count++] = (uint32_t)i;
	qsort_r(waits->calls, waits->count, sizeof(*waits->calls), compare_ends, profile->calls);
	return 0;
}

struct pause {
	const struct profile *profile;
	const struct waits *waits;
	int64_t from_ns, until_ns;
};

static bool is_later(size_t index, const void *context)
{
	const struct pause *pause = context;

	return pause->profile->calls[pause->waits->calls[index]].end_ns > pause->until_ns;
}

static bool is_same_host(const struct profile *profile, uint32_t call, uint32_t other)
{
	const struct profile_thread *threads = profile->threads;
	uint32_t process = threads[profile->calls[call].thread].process,
		 of_other = threads[profile->calls[other].thread].process;

	return process == of_other ||
	       !strcmp(profile->processes[process].host, profile->processes[of_other].host);
}

/* What another thread waited for while this one paused, if this one goes on right after it: no recording tells that threads
 * wait for each other.  PROFILE_NONE: the pause is its own. */
static uint32_t woken_by(const struct pause *pause, uint32_t call)
{
	size_t after = search_first(0, pause->waits->count, is_later, pause);
	uint32_t other = after ? pause->waits->calls[after - 1] : PROFILE_NONE;
	int64_t pause_ns = pause->until_ns - pause->from_ns;

	if (other == PROFILE_NONE || pause_ns < LEAST_PAUSE_NS ||
	    pause->profile->calls[other].end_ns <= pause->from_ns ||
	    (double)(pause->until_ns - pause->profile->calls[other].end_ns) >
		    WOKEN_SHARE * (double)pause_ns ||
	    !is_same_host(pause->profile, call, other))
		return PROFILE_NONE;
	return other;
}

/* A call follows the one before in its thread after the host's own time, or the other thread that it waited for. */
static int need_call(struct job_run *run, const struct waits *waits, uint32_t call, int64_t last_ns)
{
	const struct profile_call *calls = run->model->profile->calls;
	const struct pause pause = {run->model->profile, waits, last_ns, calls[call].start_ns};
	uint32_t task = job_run_task_of_call(run, call), other = woken_by(&pause, call);
	int rc;

	if (other == PROFILE_NONE)
		return tasks_need(&run->tasks, task, run->returned[call - 1], false,
				  (double)max_ns(pause.until_ns - last_ns, 0));
	rc = tasks_need(&run->tasks, task, run->returned[call - 1], false, 0);
	return rc < 0 ? rc
		      : tasks_need(&run->tasks, task, run->returned[other], false,
				   (double)(pause.until_ns - calls[other].end_ns));
}

/* Each call that waits has another task for its end. */
static int add_returns(struct job_run *run)
{
	const struct model *model = run->model;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < model->profile->call_count; i++) {
		uint32_t room = blocked_launch_room(model, i);

		if (is_waiting(model, i))
			rc = add_return(run, i, model_awaited(model, i), false);
		else if (room != PROFILE_NONE)
			rc = add_return(run, i, room, true);
	}
	return rc;
}

static int need_calls(struct job_run *run, const struct waits *waits,
		      const struct profile_thread *thread)
{
	const struct profile_call *calls = run->model->profile->calls;
	int64_t last_ns = INT64_MIN;
	int rc = 0;

	for (size_t i = thread->first_call; rc == 0 && i < thread->first_call + thread->call_count;
	     i++) {
		if (i > thread->first_call)
			rc = need_call(run, waits, (uint32_t)i, last_ns);
		last_ns = max_ns(last_ns, calls[i].end_ns);
	}
	return rc;
}

static int need_all_calls(struct job_run *run)
{
	const struct profile *profile = run->model->profile;
	struct waits waits = {0};
	int rc = add_returns(run);

	if (rc == 0)
		rc = find_waits(&waits, run);
	for (size_t i = 0; rc == 0 && i < profile->thread_count; i++)
		rc = need_calls(run, &waits, &profile->threads[i]);
	free(waits.calls);
	return rc;
}

/* ---- what operations need ---- */

/* A need of an operation, and what it is later than all of them say. */
static int need(struct job_run *run, uint32_t op, uint32_t other, bool is_of_start,
		int64_t needed_ns, int64_t lag_ns)
{
	struct task *item = &run->tasks.items[op];

	item->rest_ns = fmin(item->rest_ns,
			     (double)(run->model->profile->ops[op].start_ns - needed_ns - lag_ns));
	return tasks_need(&run->tasks, op, other, is_of_start, (double)lag_ns);
}

static int need_before(struct job_run *run, uint32_t op, bool is_node)
{
	const struct model *model = run->model;
	const struct profile_op *ops = model->profile->ops;
	uint32_t predecessor = model_predecessor(model, op), cross = model_cross_stream(model, op);
	int rc = 0;

	if (predecessor != PROFILE_NONE)
		rc = need(run, op, predecessor, false, ops[predecessor].end_ns,
			  is_node ? 0 : latencies_own_gap_ns(model, op));
	if (rc == 0 && cross != PROFILE_NONE)
		rc = need(run, op, cross, false, ops[cross].end_ns,
			  is_node ? 0 : latencies_gap_ns(model, cross, op));
	return rc;
}

static int need_first(struct job_run *run, size_t call, uint32_t op)
{
	int rc = need(run, op, job_run_task_of_call(run, call), true,
		      run->model->profile->calls[call].start_ns,
		      latencies_launch_ns(run->model, op));

	return rc < 0 ? rc : need_before(run, op, false);
}

/* A node of a graph keeps its distance to the first one. */
static int need_node(struct job_run *run, uint32_t first, uint32_t op)
{
	const struct profile_op *ops = run->model->profile->ops;
	int rc = need(run, op, first, true, ops[first].start_ns,
		      max_ns(ops[op].start_ns - ops[first].start_ns, 0));

	return rc < 0 ? rc : need_before(run, op, true);
}

static int need_ops(struct job_run *run)
{
	const struct submissions *submissions = &run->model->submissions;
	int rc = 0;

	for (size_t i = 0; i < run->model->profile->op_count; i++)
		run->tasks.items[i].rest_ns = INFINITY;
	for (size_t i = 0; rc == 0 && i < run->model->profile->call_count; i++)
		for (uint32_t j = submissions_first(submissions, i);
		     rc == 0 && j < submissions_first(submissions, i + 1); j++) {
			uint32_t first =
				submissions_op(submissions, submissions_first(submissions, i));
			uint32_t op = submissions_op(submissions, j);

			rc = j == submissions_first(submissions, i) ? need_first(run, i, op)
								    : need_node(run, first, op);
		}
	return rc;
}

/* What no call submitted is as far from what began before it on the GPU as it was. */
static int need_rest(struct job_run *run)
{
	const struct profile *profile = run->model->profile;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		if (op->call == PROFILE_NONE &&
		    i > profile->devices[profile_op_device(profile, op)].first_op)
			rc = need(run, i, i - 1, true, profile->ops[i - 1].start_ns,
				  op->start_ns - profile->ops[i - 1].start_ns);
		if (isinf(run->tasks.items[i].rest_ns))
			run->tasks.items[i].rest_ns = 0;
	}
	return rc;
}

/* ---- who meets ---- */

/* When the last rank of a group began its index-th collective, and whether none had ended then. */
struct meeting_time {
	int64_t last_start_ns, first_end_ns;
};

static struct meeting_time meeting_of(const struct collectives *all, uint32_t group, size_t index)
{
	struct meeting_time meeting = {INT64_MIN, INT64_MAX};

	for (size_t i = 0; i < all->rank_count; i++) {
		const struct collective_rank *rank = &all->ranks[i];

		if (!rank->is_matched || rank->group != group || index >= rank->matched_count)
			continue;
		meeting.last_start_ns =
			max_ns(meeting.last_start_ns, all->items[rank->first + index].start_ns);
		meeting.first_end_ns =
			min_ns(meeting.first_end_ns, all->items[rank->first + index].end_ns);
	}
	return meeting;
}

static void set_meeting(struct job_run *run, uint32_t group, size_t index, uint32_t meeting)
{
	const struct collectives *all = run->collectives;
	const struct meeting_time when = meeting_of(all, group, index);

	if (when.first_end_ns <=
	    when.last_start_ns) /* some need not wait for all, as in a broadcast */
		return;
	for (size_t i = 0; i < all->rank_count; i++) {
		const struct collective_rank *rank = &all->ranks[i];
		const struct collective *item = &all->items[rank->first + index];

		if (!rank->is_matched || rank->group != group || index >= rank->matched_count)
			continue;
		run->tasks.items[item->op].meeting = meeting;
		run->tasks.items[item->op].length_ns = (double)(item->end_ns - when.last_start_ns);
	}
}

/* Group by group: the first rank of each stands for it. */
static void find_meetings(struct job_run *run)
{
	const struct collectives *all = run->collectives;

	for (size_t i = 0; all && i < all->rank_count; i++) {
		const struct collective_rank *rank = &all->ranks[i];
		bool is_first = rank->is_matched;

		for (size_t j = 0; j < i; j++)
			is_first = is_first && !(all->ranks[j].is_matched &&
						 all->ranks[j].group == rank->group);
		for (size_t j = 0; is_first && j < rank->matched_count; j++)
			set_meeting(run, rank->group, j, (uint32_t)run->tasks.meeting_count++);
	}
}

/* ---- computation beside communication ---- */

/* What a task would take alone: communication beside it took SMs from it. */
static void measure_work(struct job_run *run, uint32_t op, const uint32_t *beside, size_t count)
{
	const struct profile_op *ops = run->model->profile->ops;
	struct task *item = &run->tasks.items[op];
	double taken_ns = 0;

	for (size_t i = 0; i < count; i++) {
		int64_t from_ns = max_ns(ops[op].start_ns, ops[beside[i]].start_ns),
			until_ns = min_ns(ops[op].end_ns, ops[beside[i]].end_ns);

		taken_ns += (double)max_ns(until_ns - from_ns, 0) *
			    run->tasks.items[beside[i]].sm_share;
	}
	item->length_ns = fmax(item->length_ns - taken_ns, (1 - MOST_SM_SHARE) * item->length_ns);
}

#define BESIDE_MOST 16

/* Operations of a GPU come by start: those that may still run when the next one begins are kept. */
static void measure_works(struct job_run *run, const struct profile_device *device)
{
	const struct profile_op *ops = run->model->profile->ops;
	uint32_t kernels[BESIDE_MOST];
	size_t count = 0, next = device->first_op, end = device->first_op + device->op_count;

	for (size_t i = device->first_op; i < end; i++) {
		size_t kept = 0;

		for (size_t j = 0; j < count; j++)
			if (ops[kernels[j]].end_ns > ops[i].start_ns)
				kernels[kept++] = kernels[j];
		count = kept;
		for (; next < end && ops[next].start_ns < ops[i].end_ns; next++)
			if (run->tasks.items[next].sm_share > 0 && count < BESIDE_MOST)
				kernels[count++] = (uint32_t)next;
		if (run->tasks.items[i].kind == TASK_COMPUTATION)
			measure_work(run, (uint32_t)i, kernels, count);
	}
}

/* ---- all ---- */

/* Nanoseconds since 1970 are more than a double has digits for. */
static int64_t first_ns(const struct profile *profile)
{
	int64_t first_ns = INT64_MAX;

	for (size_t i = 0; i < profile->op_count; i++)
		first_ns = min_ns(first_ns, profile->ops[i].start_ns);
	for (size_t i = 0; i < profile->call_count; i++)
		first_ns = min_ns(first_ns, profile->calls[i].start_ns);
	return profile->op_count + profile->call_count ? first_ns : 0;
}

static int find_communication(struct job_run *run)
{
	const struct profile *profile = run->model->profile;
	uint32_t *ranks = calloc(profile->stream_count + 1, sizeof(*ranks));
	int rc = ranks ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < profile->op_count; i++)
		ranks[profile->ops[i].stream] = job_run_rank_of(profile, &profile->ops[i]);
	if (rc == 0)
		rc = communication_find(&run->communication, profile, ranks);
	free(ranks);
	return rc;
}

int job_run_open(struct job_run *run, const struct model *model,
		 const struct collectives *collectives, bool shares_sms)
{
	const struct profile *profile = model->profile;
	int rc;

	*run = (struct job_run){.model = model,
				.collectives = collectives,
				.origin_ns = first_ns(profile),
				.tasks.device_count = profile->device_count};
	run->returned = calloc(profile->call_count + 1, sizeof(*run->returned));
	rc = run->returned ? find_communication(run) : -ENOMEM;
	if (rc == 0)
		rc = add_ops(run, shares_sms);
	if (rc == 0)
		rc = add_calls(run);
	if (rc == 0)
		rc = need_all_calls(run);
	if (rc == 0)
		rc = need_ops(run);
	if (rc == 0)
		rc = need_rest(run);
	if (rc < 0)
		return rc;
	find_meetings(run);
	for (size_t i = 0; shares_sms && i < profile->device_count; i++)
		measure_works(run, &profile->devices[i]);
	return 0;
}

void job_run_free(struct job_run *run)
{
	communication_free(&run->communication);
	tasks_free(&run->tasks);
	free(run->returned);
	*run = (struct job_run){0};
}
