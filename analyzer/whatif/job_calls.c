#include "whatif/job_calls.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/ns.h"
#include "replay/recording_overhead.h"

/* ---- what recording added ---- */

static bool is_op(const struct job_run *job, uint32_t task)
{
	return task < job->model->profile->op_count;
}

static bool is_call(const struct job_run *job, uint32_t task)
{
	const struct profile *profile = job->model->profile;

	return task >= profile->op_count && task < profile->op_count + profile->call_count;
}

/* Of what lies between an operation and what it follows. */
static int64_t added_before_op(const struct job_run *job, const struct costs *costs,
			       const struct need *need)
{
	int64_t lag_ns = (int64_t)need->lag_ns;

	if (is_call(job, need->other) && need->is_of_start)
		return overhead_start_ns(job->model, costs, need->task, lag_ns);
	if (is_op(job, need->other) && !need->is_of_start &&
	    need->other == model_predecessor(job->model, need->task))
		return overhead_gap_ns(job->model, costs, need->other, need->task, lag_ns);
	return 0;
}

void job_calls_subtract_recording(struct job_run *job, const struct costs *costs)
{
	size_t op_count = job->model->profile->op_count,
	       call_count = job->model->profile->call_count;

	for (size_t i = 0; i < call_count; i++) {
		struct task *call = &job->tasks.items[op_count + i];

		call->length_ns -=
			(double)overhead_call_ns(job->model, costs, i, (int64_t)call->length_ns);
	}
	for (size_t i = 0; i < job->tasks.need_count; i++) {
		struct need *need = &job->tasks.needs[i];
		int64_t added_ns = 0;

		if (need->other == TASK_NONE || !(need->lag_ns > 0))
			continue;
		if (is_op(job, need->task))
			added_ns = added_before_op(job, costs, need);
		else if (!is_call(job, need->task) && is_op(job, need->other))
			added_ns = overhead_wait_ns(job->model, costs, need->other,
						    (int64_t)need->lag_ns);
		need->lag_ns = fmax(need->lag_ns - (double)added_ns, 0);
	}
}

/* ---- calls ---- */

struct changing {
	struct job_application *application;
	const struct change *change;
	const struct costs *costs;
	uint32_t *
		launches; /* owned; by call: that of the graph that it is a node of; PROFILE_NONE: it is none */
	uint64_t *node_counts; /* owned; by call that launches a graph */
	double *pauses_ns;     /* owned; likewise: the mean of those before its other calls */
	uint32_t *
		returned_calls; /* owned; by task from after_calls on: the call whose end it is, PROFILE_NONE: none */
	size_t after_calls;
};

static const struct profile *profile_of(const struct changing *it)
{
	return it->application->job.model->profile;
}

static const struct call_change *change_at(const struct changing *it, size_t call)
{
	return change_of_call(it->change, call);
}

static double pause_before(const struct changing *it, size_t call)
{
	const struct profile_call *calls = profile_of(it)->calls;

	return (double)max_ns(calls[call].start_ns - calls[call - 1].end_ns, 0);
}

/* Of the graph that begins with a call of a thread: its calls, nodes and pauses. */
static void gather_graph(struct changing *it, size_t first, size_t end)
{
	const struct submissions *submissions = &it->application->job.model->submissions;
	uint64_t count = 0;

	it->node_counts[first] = submissions_count(submissions, first);
	for (size_t i = first + 1; i < end && call_change_is_node(change_at(it, i)); i++) {
		it->launches[i] = (uint32_t)first;
		it->node_counts[first] += submissions_count(submissions, i);
		if (change_at(it, i)->pause == PAUSE_KEPT)
			continue;
		it->pauses_ns[first] += pause_before(it, i);
		count++;
	}
	if (count)
		it->pauses_ns[first] /= (double)count;
}

static void gather_graphs(struct changing *it)
{
	const struct profile *profile = profile_of(it);

	for (size_t i = 0; i < profile->call_count; i++)
		it->launches[i] = PROFILE_NONE;
	for (size_t i = 0; i < profile->thread_count; i++) {
		const struct profile_thread *thread = &profile->threads[i];
		size_t end = thread->first_call + thread->call_count;

		for (size_t j = thread->first_call; j < end; j++)
			if (call_change_is_graph(change_at(it, j)))
				gather_graph(it, j, end);
	}
}

static double cost_ns(const struct changing *it, enum cost cost, size_t call)
{
	return (double)costs_ns(it->costs, cost, it->node_counts[call]);
}

static void change_call(struct changing *it, size_t call)
{
	struct job_run *job = &it->application->job;
	const struct call_change *what = change_at(it, call);
	struct task *task = &job->tasks.items[job_run_task_of_call(job, call)];

	if (what->host != COST_RECORDED)
		task->length_ns = cost_ns(it, (enum cost)what->host, call);
	task->length_ns += cost_ns(it, (enum cost)what->prepare, call);
}

/* ---- needs ---- */

/* Whose end a task is, PROFILE_NONE: no call's. */
static uint32_t returned_call(const struct changing *it, uint32_t task)
{
	return task >= it->after_calls && task < it->application->job.tasks.count
		       ? it->returned_calls[task - it->after_calls]
		       : PROFILE_NONE;
}

static bool is_gone(const struct changing *it, size_t call)
{
	return call_change_is_gone(change_at(it, call));
}

/* Of a call: the pause before it, and what it waits for no longer. */
static void change_need_of_call(struct changing *it, struct need *need, size_t call)
{
	const struct call_change *what = change_at(it, call);

	if (is_op(&it->application->job, need->other))
		return;
	if (what->pause == PAUSE_GONE)
		need->lag_ns = 0;
	else if (what->pause == PAUSE_SHARED)
		need->lag_ns = fmax(need->lag_ns - it->pauses_ns[call], 0);
}

static void change_need_of_op(struct changing *it, struct need *need)
{
	struct job_run *job = &it->application->job;
	uint32_t call = profile_of(it)->ops[need->task].call;
	const struct call_change *what;

	if (call == PROFILE_NONE)
		return;
	what = change_at(it, call);
	if (!call_change_is_graph(what) && !call_change_is_node(what))
		return;
	job->tasks.items[need->task].rest_ns = 0;
	if (is_op(job, need->other) && !need->is_of_start)
		need->lag_ns = cost_ns(it, (enum cost)what->gap, call);
	else if (!is_op(job, need->other) && call_change_is_graph(what))
		need->lag_ns = (double)it->costs->graph_to_start_ns;
	else if (!is_op(job, need->other))
		need->other = TASK_NONE;
}

static void change_need(struct changing *it, struct need *need)
{
	const struct job_run *job = &it->application->job;
	uint32_t call;

	if (need->other == TASK_NONE)
		return;
	if (is_op(job, need->task)) {
		change_need_of_op(it, need);
	} else if (is_call(job, need->task)) {
		change_need_of_call(it, need, need->task - (uint32_t)profile_of(it)->op_count);
	} else {
		call = returned_call(it, need->task);
		if (call != PROFILE_NONE && is_gone(it, call) && is_op(job, need->other))
			need->other = TASK_NONE;
	}
}

/* No node starts before its graph does. */
static int need_graphs(struct changing *it)
{
	struct job_run *job = &it->application->job;
	const struct submissions *submissions = &job->model->submissions;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile_of(it)->call_count; i++)
		for (uint32_t j = submissions_first(submissions, i);
		     rc == 0 && it->launches[i] != PROFILE_NONE &&
		     j < submissions_first(submissions, i + 1);
		     j++)
			rc = tasks_need(&job->tasks, submissions_op(submissions, j),
					job_run_task_of_call(job, it->launches[i]), true,
					(double)it->costs->graph_to_start_ns);
	return rc;
}

/* ---- whom waits are for ---- */

/* Of the waits that are gone, more than that must not be what another thread goes on after. */
#define MOST_HANDED 0.1

/* A half of a copy through the host: after it the host tells the one of the other GPU, or takes the memory for the next
 * message, which no recording shows. */
static bool is_for_message(const struct changing *it, size_t wait)
{
	uint32_t awaited = model_awaited(it->application->job.model, wait);

	return awaited != PROFILE_NONE &&
	       job_application_work(it->application, awaited) == WORK_STAGED;
}

static bool is_hand_over(const struct changing *it, const struct need *need)
{
	const struct profile *profile = profile_of(it);
	uint32_t wait = need->other == TASK_NONE ? PROFILE_NONE : returned_call(it, need->other);

	return wait != PROFILE_NONE && is_call(&it->application->job, need->task) &&
	       is_gone(it, wait) &&
	       profile->calls[wait].thread != profile->calls[need->task - profile->op_count].thread;
}

static bool hand_over(const struct changing *it)
{
	const struct tasks *tasks = &it->application->job.tasks;
	size_t gone_count = 0, handed_count = 0;

	for (size_t i = it->after_calls; i < tasks->count; i++) {
		uint32_t wait = returned_call(it, (uint32_t)i);

		if (wait == PROFILE_NONE || !is_gone(it, wait))
			continue;
		gone_count++;
		handed_count += is_for_message(it, wait);
	}
	for (size_t i = 0; i < tasks->need_count; i++)
		handed_count += is_hand_over(it, &tasks->needs[i]);
	return (double)handed_count > MOST_HANDED * (double)gone_count;
}

/* ---- all ---- */

/* What a part is told by.  Halves of copies through the host are left out: they are copies through the host still. */
static void mark_ops(struct changing *it)
{
	struct job_application *application = it->application;

	for (size_t i = 0; i < profile_of(it)->op_count; i++) {
		uint32_t call = profile_of(it)->ops[i].call;

		if (call != PROFILE_NONE && it->change->calls[call] != CALL_KEPT &&
		    job_application_work(application, i) != WORK_STAGED)
			application->is_changed[i] = true;
	}
}

/* Where only waits are dropped it is what was launched before them. */
static void mark_before_waits(struct changing *it)
{
	const struct model *model = it->application->job.model;

	for (size_t i = 0; i < profile_of(it)->call_count; i++) {
		uint32_t awaited = model_awaited(model, i);

		if (awaited != PROFILE_NONE && it->change->calls[i] != CALL_KEPT &&
		    job_application_work(it->application, awaited) != WORK_STAGED)
			it->application->is_changed[awaited] = true;
	}
}

static int open_changing(struct changing *it)
{
	const struct job_run *job = &it->application->job;
	size_t call_count = profile_of(it)->call_count;

	it->after_calls = profile_of(it)->op_count + call_count;
	it->launches = malloc((call_count + 1) * sizeof(*it->launches));
	it->node_counts = calloc(call_count + 1, sizeof(*it->node_counts));
	it->pauses_ns = calloc(call_count + 1, sizeof(*it->pauses_ns));
	it->returned_calls =
		malloc((job->tasks.count - it->after_calls + 1) * sizeof(*it->returned_calls));
	if (!it->launches || !it->node_counts || !it->pauses_ns || !it->returned_calls)
		return -ENOMEM;
	for (size_t i = it->after_calls; i < job->tasks.count; i++)
		it->returned_calls[i - it->after_calls] = PROFILE_NONE;
	for (size_t i = 0; i < call_count; i++)
		if (job->returned[i] >= it->after_calls)
			it->returned_calls[job->returned[i] - it->after_calls] = (uint32_t)i;
	return 0;
}

static int change_all(struct changing *it)
{
	struct tasks *tasks = &it->application->job.tasks;
	size_t need_count = tasks->need_count;
	int rc;

	gather_graphs(it);
	for (size_t i = 0; i < profile_of(it)->call_count; i++)
		change_call(it, i);
	for (size_t i = 0; i < need_count; i++)
		change_need(it, &tasks->needs[i]);
	rc = need_graphs(it);
	mark_ops(it);
	mark_before_waits(it);
	return rc;
}

int job_calls_change(struct job_application *application, const struct change *change,
		     bool *hands_over)
{
	struct changing it = {.application = application,
			      .change = change,
			      .costs = application->run->costs};
	int rc = open_changing(&it);

	*hands_over = rc == 0 && hand_over(&it);
	if (rc == 0 && !*hands_over)
		rc = change_all(&it);
	free(it.launches);
	free(it.node_counts);
	free(it.pauses_ns);
	free(it.returned_calls);
	return rc;
}
