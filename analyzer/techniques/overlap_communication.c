/*
 * overlap_communication.c - collectives and copies between GPUs in parts, each beside the computation of the next part.
 */
#include "techniques/job_application.h"
#include "techniques/techniques.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/spans.h"
#include "base/sums.h"

/* What more of runs beside computation is hidden already. */
#define HIDDEN_SHARE 0.5
/* A backward pass takes about twice as long as the forward pass, and a tenth of a step is the optimizer. */
#define KEPT_SHARE 0.6
/* What is shorter is told from the cost of a launch by nobody. */
#define LEAST_NS 20000
/* Kernels before a communication that are looked at. */
#define PRODUCERS_MOST 4096

static const char none_exposed[] =
	"no collective or copy between GPUs follows the computation that it could run beside";

static const char hidden[] = "most of what is communicated runs beside computation already";

/* The computation whose results a communication takes, the last kernel first. */
struct producers {
	uint32_t *ops; /* owned; room for PRODUCERS_MOST */
	size_t count;
	double total_ns;
};

struct overlapping {
	struct job_application *application;
	struct spans *computation; /* owned; by device */
	uint32_t *first_need,
		*needs; /* owned; by task: of needs[], those of it, as they were at first */
	struct producers producers;
};

/* ---- which computation ---- */

/* A kernel, or a memset or copy on the GPU, which libraries put between theirs. */
static bool is_computation(const struct overlapping *all, uint32_t op, uint32_t device)
{
	const struct profile *profile = all->application->job.model->profile;

	return op != PROFILE_NONE &&
	       all->application->job.tasks.items[op].kind == TASK_COMPUTATION &&
	       profile_op_device(profile, &profile->ops[op]) == device;
}

static uint32_t name_of(const struct profile *profile, uint32_t op)
{
	return profile->signatures[profile->ops[op].detail].kernel;
}

/* Of a copy through the host that is now one between GPUs: the copy that is gone was behind the computation. */
static uint32_t source_of(const struct overlapping *all, uint32_t op)
{
	const struct staged_copy *staged =
		job_application_work(all->application, op) == WORK_STAGED
			? communication_staged(&all->application->job.communication, op)
			: NULL;

	return staged ? staged->out : op;
}

static uint32_t last_producer(const struct overlapping *all, uint32_t op)
{
	const struct model *model = all->application->job.model;
	uint32_t source = source_of(all, op),
		 device = profile_op_device(model->profile, &model->profile->ops[source]);
	uint32_t predecessor = model_predecessor(model, source),
		 cross = model_cross_stream(model, source);

	if (is_computation(all, predecessor, device))
		return predecessor;
	return is_computation(all, cross, device) ? cross : PROFILE_NONE;
}

static bool is_consumer(const struct overlapping *all, uint32_t op)
{
	const struct model *model = all->application->job.model;
	const uint32_t before[] = {model_predecessor(model, op), model_cross_stream(model, op)};

	for (int i = 0; i < 2; i++)
		if (before[i] != PROFILE_NONE &&
		    all->application->job.tasks.items[before[i]].kind == TASK_COMMUNICATION)
			return true;
	return false;
}

static void add_producer(struct overlapping *all, uint32_t op)
{
	struct producers *producers = &all->producers;

	if (all->application->job.model->profile->ops[op].kind != OP_KERNEL)
		return;
	producers->ops[producers->count++] = op;
	producers->total_ns += all->application->job.tasks.items[op].length_ns;
}

/* From the last one back to what takes the results of the communication before. */
static void find_run(struct overlapping *all, uint32_t last)
{
	const struct model *model = all->application->job.model;
	uint32_t device = profile_op_device(model->profile, &model->profile->ops[last]);

	all->producers.count = 0;
	all->producers.total_ns = 0;
	for (uint32_t op = last;
	     is_computation(all, op, device) && all->producers.count < PRODUCERS_MOST;
	     op = model_predecessor(model, op)) {
		add_producer(all, op);
		if (is_consumer(all, op))
			return;
	}
}

/* The last kernels of one name, or where these are few those of the last KEPT_SHARE: in a training step what comes first is
 * the forward pass. */
static void keep_last(struct overlapping *all)
{
	const struct profile *profile = all->application->job.model->profile;
	const struct task *tasks = all->application->job.tasks.items;
	struct producers *producers = &all->producers;
	double kept_ns = 0;
	size_t kept = 0;

	while (kept < producers->count &&
	       (name_of(profile, producers->ops[kept]) == name_of(profile, producers->ops[0]) ||
		kept_ns < KEPT_SHARE * producers->total_ns))
		kept_ns += tasks[producers->ops[kept++]].length_ns;
	producers->count = kept;
	producers->total_ns = kept_ns;
}

static bool is_hidden(const struct overlapping *all, uint32_t op)
{
	const struct profile *profile = all->application->job.model->profile;
	const struct profile_op *item = &profile->ops[op];
	int64_t length_ns = item->end_ns - item->start_ns;

	return (double)spans_covered(&all->computation[profile_op_device(profile, item)],
				     item->start_ns,
				     item->end_ns) > HIDDEN_SHARE * (double)length_ns;
}

static bool is_exposed(const struct overlapping *all, uint32_t op)
{
	const struct job_application *application = all->application;
	enum job_work work = job_application_work(application, op);
	bool is_copy = work == WORK_PEER || (work == WORK_STAGED && application->is_changed[op] &&
					     !application->is_gone[op]);

	return ((work == WORK_KERNEL && application->job.tasks.items[op].meeting != TASK_NONE) ||
		is_copy) &&
	       application->job.tasks.items[op].length_ns >= LEAST_NS && !is_hidden(all, op);
}

/* ---- parts ---- */

/* All that it needed needs the other one in its place. */
static void hand_needs(struct overlapping *all, uint32_t from, uint32_t to)
{
	struct tasks *tasks = &all->application->job.tasks;

	for (uint32_t i = all->first_need[from]; i < all->first_need[from + 1]; i++)
		tasks->needs[all->needs[i]].task = to;
}

static bool can_split(const struct overlapping *all, uint32_t op, uint64_t count)
{
	const struct profile *profile = all->application->job.model->profile;
	const struct profile_op *item = &profile->ops[op];
	const uint32_t *grid = profile->signatures[item->detail].grid;

	return (double)grid[0] * grid[1] * grid[2] >=
	       (double)count * profile->devices[profile_op_device(profile, item)].sm_count;
}

static bool are_divisible(const struct overlapping *all, uint64_t count)
{
	const struct producers *producers = &all->producers;

	return producers->count > 1 ||
	       (producers->count == 1 && can_split(all, producers->ops[0], count));
}

/* A kernel in so many: parts[] are all of them, of which the kernel itself is the last. */
static int split_kernel(struct overlapping *all, uint32_t op, uint64_t count, uint32_t *parts)
{
	struct job_application *application = all->application;
	struct tasks *tasks = &application->job.tasks;
	struct task part = tasks->items[op];
	double gap_ns = job_application_gap_ns(application, part.device);
	int rc = 0;

	part.length_ns /= (double)count;
	for (uint64_t i = 0; rc == 0 && i + 1 < count; i++) {
		rc = tasks_add(tasks, &part, &parts[i]);
		if (rc == 0 && i)
			rc = tasks_need(tasks, parts[i], parts[i - 1], false, gap_ns);
		part.rest_ns = 0;
	}
	if (rc < 0)
		return rc;
	hand_needs(all, op, parts[0]);
	tasks->items[op].length_ns = part.length_ns;
	tasks->items[op].rest_ns = 0;
	parts[count - 1] = op;
	application->is_changed[op] = true;
	return tasks_need(tasks, op, parts[count - 2], false, gap_ns);
}

/* What the parts of a communication follow, one after the other: kernels, or parts of the only one. */
static int find_ends(struct overlapping *all, uint64_t count, uint32_t *ends)
{
	const struct producers *producers = &all->producers;
	const struct task *tasks = all->application->job.tasks.items;
	double done_ns = 0;
	uint64_t next = 0;

	if (producers->count < count && producers->count == 1)
		return split_kernel(all, producers->ops[0], count, ends);
	for (size_t i = producers->count; i-- > 0;) {
		done_ns += tasks[producers->ops[i]].length_ns;
		while (next < count && (i == 0 || done_ns * (double)count >=
							  (double)(next + 1) * producers->total_ns))
			ends[next++] = producers->ops[i];
	}
	return 0;
}

/* Parts of a meeting meet as well: the last one is the meeting itself. */
static uint32_t meeting_of_part(uint32_t meeting, size_t meeting_count, uint64_t count,
				uint64_t part)
{
	return meeting == TASK_NONE ? TASK_NONE
				    : (uint32_t)(meeting_count + meeting * (count - 1) + part);
}

/* A part is launched behind the kernel whose results it takes. */
static int need_launch(struct job_application *application, uint32_t part, uint32_t end)
{
	const struct profile *profile = application->job.model->profile;
	uint32_t call = end < profile->op_count ? profile->ops[end].call : PROFILE_NONE;

	if (call == PROFILE_NONE)
		return 0;
	return tasks_need(&application->job.tasks, part,
			  job_run_task_of_call(&application->job, call), false,
			  (double)application->run->costs->launch_to_start_ns);
}

static int add_parts(struct overlapping *all, uint32_t op, const uint32_t *ends,
		     size_t meeting_count)
{
	struct job_application *application = all->application;
	struct tasks *tasks = &application->job.tasks;
	uint64_t count = application->number;
	struct task part = tasks->items[op];
	double gap_ns = job_application_gap_ns(application, part.device);
	double event_ns = ceilings_at(application->run->ceilings, CEILING_event_wait, 0);
	uint32_t meeting = part.meeting, before = TASK_NONE, index;
	int rc = 0;

	part.length_ns = job_application_part_length_ns(application, op, count);
	part.rest_ns = 0;
	for (uint64_t i = 0; rc == 0 && i + 1 < count; i++) {
		part.meeting = meeting_of_part(meeting, meeting_count, count, i);
		rc = tasks_add(tasks, &part, &index);
		if (rc == 0)
			rc = tasks_need(tasks, index, ends[i], false, event_ns);
		if (rc == 0)
			rc = need_launch(application, index, ends[i]);
		if (rc == 0 && before != TASK_NONE)
			rc = tasks_need(tasks, index, before, false, gap_ns);
		before = index;
	}
	tasks->items[op].length_ns = part.length_ns;
	tasks->items[op].rest_ns = fmin(tasks->items[op].rest_ns, 0);
	return rc < 0 ? rc : tasks_need(tasks, op, before, false, gap_ns);
}

/* The host launches each part, behind an event. */
static void add_launches(struct job_application *application, uint32_t op)
{
	uint32_t call = application->job.model->profile->ops[op].call;

	if (call != PROFILE_NONE)
		application->job.tasks.items[job_run_task_of_call(&application->job, call)]
			.length_ns += (double)(application->number - 1) *
				      job_application_host_ns(application, op);
}

static int overlap(struct overlapping *all, uint32_t op, size_t meeting_count)
{
	struct job_application *application = all->application;
	uint32_t ends[TECHNIQUE_PARTS_MOST];
	int rc = find_ends(all, application->number, ends);

	if (rc == 0)
		rc = add_parts(all, op, ends, meeting_count);
	add_launches(application, op);
	application->is_changed[op] = true;
	application->effect->changed_count++;
	return rc;
}

/* ---- all ---- */

static int open_computation(struct overlapping *all)
{
	const struct profile *profile = all->application->job.model->profile;
	int rc = 0;

	all->computation = calloc(profile->device_count + 1, sizeof(*all->computation));
	if (!all->computation)
		return -ENOMEM;
	for (size_t i = 0; rc == 0 && i < profile->op_count; i++)
		if (all->application->job.tasks.items[i].kind == TASK_COMPUTATION)
			rc = spans_add(
				&all->computation[profile_op_device(profile, &profile->ops[i])],
				profile->ops[i].start_ns, profile->ops[i].end_ns);
	for (size_t i = 0; i < profile->device_count; i++)
		spans_seal(&all->computation[i]);
	return rc;
}

static bool is_of_op(const struct overlapping *all, const struct need *need)
{
	return need->task < all->application->job.model->profile->op_count;
}

/* What each operation needs, as it was at first. */
static int open_needs(struct overlapping *all)
{
	const struct tasks *tasks = &all->application->job.tasks;
	size_t op_count = all->application->job.model->profile->op_count;
	uint32_t *next = calloc(op_count + 1, sizeof(*next));

	all->first_need = calloc(op_count + 1, sizeof(*all->first_need));
	all->needs = calloc(tasks->need_count + 1, sizeof(*all->needs));
	if (!next || !all->first_need || !all->needs) {
		free(next);
		return -ENOMEM;
	}
	for (size_t i = 0; i < tasks->need_count; i++)
		if (is_of_op(all, &tasks->needs[i]))
			all->first_need[tasks->needs[i].task + 1]++;
	for (size_t i = 0; i < op_count; i++)
		next[i + 1] = all->first_need[i + 1] += all->first_need[i];
	for (size_t i = 0; i < tasks->need_count; i++)
		if (is_of_op(all, &tasks->needs[i]))
			all->needs[next[tasks->needs[i].task]++] = (uint32_t)i;
	free(next);
	return 0;
}

static void overlapping_close(struct overlapping *all)
{
	for (size_t i = 0;
	     all->computation && i < all->application->job.model->profile->device_count; i++)
		spans_free(&all->computation[i]);
	free(all->computation);
	free(all->first_need);
	free(all->needs);
	free(all->producers.ops);
}

static int change_each(struct overlapping *all)
{
	const struct job_application *application = all->application;
	struct tasks *tasks = &all->application->job.tasks;
	size_t op_count = application->job.model->profile->op_count;
	size_t meeting_count = tasks->meeting_count;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < op_count; i++) {
		uint32_t last = is_exposed(all, i) ? last_producer(all, i) : PROFILE_NONE;

		if (last == PROFILE_NONE)
			continue;
		find_run(all, last);
		keep_last(all);
		if (are_divisible(all, application->number))
			rc = overlap(all, i, meeting_count);
	}
	tasks->meeting_count += meeting_count * (application->number - 1);
	return rc;
}

/* Whether more than half of the time of all communication has computation beside it. */
static bool are_most_hidden(const struct overlapping *all)
{
	const struct job_application *application = all->application;
	const struct profile *profile = application->job.model->profile;
	int64_t sum_ns = 0, hidden_ns = 0;

	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		if (application->job.tasks.items[i].kind != TASK_COMMUNICATION)
			continue;
		sum_add_ns(&sum_ns, op->end_ns - op->start_ns);
		sum_add_ns(&hidden_ns,
			   spans_covered(&all->computation[profile_op_device(profile, op)],
					 op->start_ns, op->end_ns));
	}
	return (double)hidden_ns > HIDDEN_SHARE * (double)sum_ns;
}

static const char *change_job(struct job_application *application)
{
	struct overlapping all = {.application = application};
	bool are_hidden;

	all.producers.ops = malloc(PRODUCERS_MOST * sizeof(*all.producers.ops));
	application->rc = all.producers.ops ? open_computation(&all) : -ENOMEM;
	if (application->rc == 0)
		application->rc = open_needs(&all);
	are_hidden = application->rc == 0 && are_most_hidden(&all);
	if (application->rc == 0 && !are_hidden)
		application->rc = change_each(&all);
	overlapping_close(&all);
	if (are_hidden)
		return hidden;
	return application->effect->changed_count ? NULL : none_exposed;
}

const struct technique technique_overlap_communication = {
	.id = "overlap_communication",
	.option = "buckets",
	.argument = ARGUMENT_NUMBER,
	.number_is = "a number of parts",
	.number_does = "parts each",
	.number_most = TECHNIQUE_PARTS_MOST,
	.help = "collectives and copies between GPUs in N parts, each beside the computation of the next",
	.effect =
		"A collective or a copy between GPUs that follows computation is done in N parts on a stream of its own, "
		"each when its share of that computation is done. Computation beside a collective has the SMs that the "
		"blocks of its kernel leave. All ranks are re-simulated together: who is late makes others wait.",
	.changed = "collectives and copies run in parts beside computation",
	.assumes =
		"the kernels before make what is sent bit by bit, and change nothing of it afterwards",
	.refusal = none_exposed,
	.always_assumes = true,
	.has_most = true,
	.has_ops = true,
	.has_lanes = true,
	.bound = BOUND_BUSY | BOUND_ENGINES | BOUND_STAGED,
	.spread = SPREAD_HOST,
	.change_job = change_job,
};
