#include "replay/job/tasks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"

/* Whatever communicates beside it, computation goes on so fast at least. */
#define LEAST_RATE 0.1

int tasks_add(struct tasks *tasks, const struct task *task, uint32_t *index)
{
	struct task *next = ARRAY_NEXT(tasks->items, tasks->capacity, tasks->count);

	if (!next)
		return -ENOMEM;
	*next = *task;
	*index = (uint32_t)tasks->count++;
	return 0;
}

int tasks_need(struct tasks *tasks, uint32_t task, uint32_t other, bool is_of_start, double lag_ns)
{
	struct need *next = ARRAY_NEXT(tasks->needs, tasks->need_capacity, tasks->need_count);

	if (!next)
		return -ENOMEM;
	*next = (struct need){task, other, is_of_start, lag_ns};
	tasks->need_count++;
	return 0;
}

void tasks_free(struct tasks *tasks)
{
	free(tasks->items);
	free(tasks->needs);
	*tasks = (struct tasks){0};
}

/* ---- what is under way ---- */

/* What has become of a task until now. */
struct progress {
	uint32_t open_count;	   /* needs that did not come true yet */
	double ready_ns, least_ns; /* by those that did: with their lags, and without */
	double left_ns, since_ns;  /* of computation: how much there was left to do then */
	uint32_t version;	   /* of the event of its end: earlier ones are void */
	uint32_t next, before;	   /* computation that runs on the same GPU, TASK_NONE: none */
};

struct event {
	double at_ns;
	uint32_t task, version;
	bool is_end;
};

struct meeting {
	uint32_t missing_count;
	uint32_t first, count; /* of members[] */
};

struct gpu {
	double taken;	/* share of the SMs */
	uint32_t first; /* computation that runs */
};

struct run {
	struct tasks *tasks;
	struct progress *progress;
	uint32_t *first_need; /* by task: of followers[], those that need it */
	uint32_t *followers;  /* needs[] */
	struct meeting *meetings;
	uint32_t *members;
	struct gpu *gpus;
	struct event *heap; /* the earliest first */
	size_t event_count, event_capacity;
	size_t done_count;
	int rc;
};

/* ---- events by time ---- */

/* Of the same moment ends come first, and then what was made first, so that runs are alike. */
static bool is_before(const struct event *a, const struct event *b)
{
	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns;
	return a->is_end != b->is_end ? a->is_end : a->task < b->task;
}

static void swap(struct event *heap, size_t a, size_t b)
{
	struct event kept = heap[a];

	heap[a] = heap[b];
	heap[b] = kept;
}

static void push(struct run *run, struct event event)
{
	struct event *next = ARRAY_NEXT(run->heap, run->event_capacity, run->event_count);
	size_t i = run->event_count;

	if (!next) {
		run->rc = -ENOMEM;
		return;
	}
	*next = event;
	run->event_count++;
	for (; i > 0 && is_before(&run->heap[i], &run->heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(run->heap, i, (i - 1) / 2);
}

static struct event pop(struct run *run)
{
	struct event first = run->heap[0];
	size_t i = 0;

	run->heap[0] = run->heap[--run->event_count];
	for (;;) {
		size_t least = 2 * i + 1;

		if (least >= run->event_count)
			return first;
		if (least + 1 < run->event_count &&
		    is_before(&run->heap[least + 1], &run->heap[least]))
			least++;
		if (!is_before(&run->heap[least], &run->heap[i]))
			return first;
		swap(run->heap, i, least);
		i = least;
	}
}

/* ---- computation beside communication ---- */

static double rate_of(const struct gpu *gpu)
{
	return fmax(1 - gpu->taken, LEAST_RATE);
}

static void plan_end(struct run *run, uint32_t task, double now_ns)
{
	struct progress *progress = &run->progress[task];
	double rate = run->tasks->items[task].kind == TASK_COMPUTATION
			      ? rate_of(&run->gpus[run->tasks->items[task].device])
			      : 1;

	progress->since_ns = now_ns;
	push(run,
	     (struct event){now_ns + progress->left_ns / rate, task, ++progress->version, true});
}

/* Communication that begins or ends there takes SMs, or gives them back. */
static void take(struct run *run, uint32_t device, double sm_share, double now_ns)
{
	struct gpu *gpu = &run->gpus[device];
	double rate = rate_of(gpu);

	if (sm_share == 0)
		return;
	gpu->taken += sm_share;
	for (uint32_t i = gpu->first; i != TASK_NONE; i = run->progress[i].next) {
		struct progress *progress = &run->progress[i];

		progress->left_ns -= (now_ns - progress->since_ns) * rate;
		progress->left_ns = fmax(progress->left_ns, 0);
		plan_end(run, i, now_ns);
	}
}

static void enter(struct run *run, uint32_t task)
{
	struct gpu *gpu = &run->gpus[run->tasks->items[task].device];
	struct progress *progress = &run->progress[task];

	progress->before = TASK_NONE;
	progress->next = gpu->first;
	if (gpu->first != TASK_NONE)
		run->progress[gpu->first].before = task;
	gpu->first = task;
}

static void leave(struct run *run, uint32_t task)
{
	struct progress *progress = &run->progress[task];

	if (progress->before != TASK_NONE)
		run->progress[progress->before].next = progress->next;
	else
		run->gpus[run->tasks->items[task].device].first = progress->next;
	if (progress->next != TASK_NONE)
		run->progress[progress->next].before = progress->before;
}

/* ---- one event ---- */

/* All that it needs is there. */
static void plan_start(struct run *run, uint32_t task)
{
	const struct progress *progress = &run->progress[task];
	const struct task *item = &run->tasks->items[task];
	double at_ns = isinf(progress->ready_ns)
			       ? item->from_ns
			       : fmax(progress->ready_ns + item->rest_ns, progress->least_ns);

	push(run, (struct event){at_ns, task, 0, false});
}

static void tell_followers(struct run *run, uint32_t task, bool is_start, double now_ns)
{
	for (uint32_t i = run->first_need[task]; i < run->first_need[task + 1]; i++) {
		const struct need *need = &run->tasks->needs[run->followers[i]];
		struct progress *progress = &run->progress[need->task];

		if (need->is_of_start != is_start)
			continue;
		progress->ready_ns = fmax(progress->ready_ns, now_ns + need->lag_ns);
		progress->least_ns = fmax(progress->least_ns, now_ns);
		if (--progress->open_count == 0)
			plan_start(run, need->task);
	}
}

static void meet(struct run *run, const struct meeting *meeting, double now_ns)
{
	for (uint32_t i = meeting->first; i < meeting->first + meeting->count; i++)
		plan_end(run, run->members[i], now_ns);
}

static void start(struct run *run, uint32_t task, double now_ns)
{
	struct task *item = &run->tasks->items[task];

	item->start_ns = now_ns;
	run->progress[task].left_ns = item->length_ns;
	if (item->kind == TASK_COMPUTATION)
		enter(run, task);
	take(run, item->device, item->sm_share, now_ns);
	tell_followers(run, task, true, now_ns);
	if (item->meeting == TASK_NONE)
		plan_end(run, task, now_ns);
	else if (--run->meetings[item->meeting].missing_count == 0)
		meet(run, &run->meetings[item->meeting], now_ns);
}

static void end(struct run *run, const struct event *event)
{
	struct task *item = &run->tasks->items[event->task];

	if (event->version != run->progress[event->task].version)
		return;
	item->end_ns = event->at_ns;
	if (item->kind == TASK_COMPUTATION)
		leave(run, event->task);
	take(run, item->device, -item->sm_share, event->at_ns);
	tell_followers(run, event->task, false, event->at_ns);
	run->done_count++;
}

/* ---- the whole ---- */

static int count_needs(struct run *run)
{
	struct tasks *tasks = run->tasks;

	for (size_t i = 0; i < tasks->need_count; i++)
		if (tasks->needs[i].other != TASK_NONE)
			run->first_need[tasks->needs[i].other + 1]++;
	for (size_t i = 0; i < tasks->count; i++) {
		run->first_need[i + 1] += run->first_need[i];
		run->progress[i] = (struct progress){.ready_ns = -INFINITY, .least_ns = -INFINITY};
	}
	return 0;
}

/* Those that need each task, one after the other. */
static int find_followers(struct run *run)
{
	struct tasks *tasks = run->tasks;
	uint32_t *next = malloc((tasks->count + 1) * sizeof(*next));

	if (!next)
		return -ENOMEM;
	for (size_t i = 0; i < tasks->count; i++)
		next[i] = run->first_need[i];
	for (size_t i = 0; i < tasks->need_count; i++) {
		if (tasks->needs[i].other == TASK_NONE)
			continue;
		run->followers[next[tasks->needs[i].other]++] = (uint32_t)i;
		run->progress[tasks->needs[i].task].open_count++;
	}
	free(next);
	return 0;
}

static void find_members(struct run *run)
{
	const struct tasks *tasks = run->tasks;
	uint32_t first = 0;

	for (size_t i = 0; i < tasks->count; i++)
		if (tasks->items[i].meeting != TASK_NONE)
			run->meetings[tasks->items[i].meeting].missing_count++;
	for (size_t i = 0; i < tasks->meeting_count; i++) {
		run->meetings[i].first = first;
		first += run->meetings[i].missing_count;
	}
	for (size_t i = 0; i < tasks->count; i++)
		if (tasks->items[i].meeting != TASK_NONE) {
			struct meeting *meeting = &run->meetings[tasks->items[i].meeting];

			run->members[meeting->first + meeting->count++] = (uint32_t)i;
		}
}

static int run_open(struct run *run)
{
	const struct tasks *tasks = run->tasks;

	run->progress = calloc(tasks->count + 1, sizeof(*run->progress));
	run->first_need = calloc(tasks->count + 2, sizeof(*run->first_need));
	run->followers = calloc(tasks->need_count + 1, sizeof(*run->followers));
	run->meetings = calloc(tasks->meeting_count + 1, sizeof(*run->meetings));
	run->members = calloc(tasks->count + 1, sizeof(*run->members));
	run->gpus = calloc(tasks->device_count + 1, sizeof(*run->gpus));
	if (!run->progress || !run->first_need || !run->followers || !run->meetings ||
	    !run->members || !run->gpus || count_needs(run) < 0 || find_followers(run) < 0)
		return -ENOMEM;
	find_members(run);
	for (size_t i = 0; i <= tasks->device_count; i++)
		run->gpus[i].first = TASK_NONE;
	return 0;
}

static void run_close(struct run *run)
{
	free(run->progress);
	free(run->first_need);
	free(run->followers);
	free(run->meetings);
	free(run->members);
	free(run->gpus);
	free(run->heap);
}

int tasks_run(struct tasks *tasks)
{
	struct run run = {.tasks = tasks};

	run.rc = run_open(&run);
	for (size_t i = 0; run.rc == 0 && i < tasks->count; i++)
		if (!run.progress[i].open_count)
			plan_start(&run, (uint32_t)i);
	while (run.rc == 0 && run.event_count) {
		const struct event event = pop(&run);

		if (event.is_end)
			end(&run, &event);
		else
			start(&run, event.task, event.at_ns);
	}
	if (run.rc == 0 && run.done_count < tasks->count)
		run.rc = -EDEADLK;
	run_close(&run);
	return run.rc;
}
