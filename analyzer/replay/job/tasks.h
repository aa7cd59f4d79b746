/*
 * tasks.h - what all ranks of a job do, as tasks that wait for each other: when each begins and ends.
 *
 * A task begins when all that it needs has begun or ended, as long after it as the need says, and rest_ns later:
 *
 *   start = max over its needs of (begin or end + lag) + rest, but not before what it needs
 *
 * Tasks of one meeting are a collective: each begins by itself, and goes on when the last of them has begun.  So a rank
 * that is late makes others late, and what waits for those.  While kernels of communication run on a GPU, computation
 * there has only the SMs that they leave.  Nothing here knows of recordings: run.h makes tasks of one.
 *
 * Events are taken in order of time: n log n in the number of tasks and needs.  Pure.
 */
#ifndef ROOFLINE_TASKS_H
#define ROOFLINE_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TASK_NONE UINT32_MAX

enum task_kind {
	TASK_HOST,
	TASK_COMPUTATION,
	TASK_COMMUNICATION, /* a kernel or a copy between GPUs */
	TASK_COPY,	    /* between a GPU and its host */
};

struct task {
	double length_ns; /* by itself, with all SMs; of a meeting since the last one began */
	double rest_ns;
	double from_ns;	 /* when it begins that needs nothing */
	double sm_share; /* of communication: the SMs that computation beside it does without */
	uint32_t device;
	uint32_t meeting;	 /* equal for those that meet, from 0; TASK_NONE: it meets nobody */
	uint8_t kind;		 /* enum task_kind */
	double start_ns, end_ns; /* tasks_run fills them in */
};

/* task needs another one. */
struct need {
	uint32_t task, other; /* other is TASK_NONE where that was taken back */
	bool is_of_start;     /* it needs its beginning, not its end */
	double lag_ns;
};

struct tasks {
	struct task *items; /* owned */
	struct need *needs; /* owned */
	size_t count, capacity, need_count, need_capacity;
	size_t meeting_count; /* meetings are less than this */
	size_t device_count;
};

/* Each returns 0 or -ENOMEM; tasks_add says which one it is. */
int tasks_add(struct tasks *tasks, const struct task *task, uint32_t *index);
int tasks_need(struct tasks *tasks, uint32_t task, uint32_t other, bool is_of_start, double lag_ns);

/* Fills in start_ns and end_ns of all.  Returns 0, -ENOMEM, or -EDEADLK: some wait for each other forever. */
int tasks_run(struct tasks *tasks);
void tasks_free(struct tasks *tasks);

#endif
