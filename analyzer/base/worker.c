#define _GNU_SOURCE /* sched_getaffinity */

#include "base/worker.h"

#include <sched.h>

static void *run(void *context)
{
	struct worker *worker = context;

	worker->rc = worker->work(worker->context);
	return NULL;
}

void worker_start(struct worker *worker, size_t item_count, int (*work)(void *context),
		  void *context)
{
	*worker = (struct worker){.work = work, .context = context};
	worker->is_running = item_count >= WORKER_LEAST_ITEMS &&
			     pthread_create(&worker->thread, NULL, run, worker) == 0;
	if (!worker->is_running)
		(void)run(worker);
}

int worker_join(struct worker *worker)
{
	if (worker->is_running)
		pthread_join(worker->thread, NULL);
	worker->is_running = false;
	return worker->rc;
}

size_t worker_cores(size_t most)
{
	cpu_set_t cores;
	size_t count;

	/* It fails where there are more than the set has room for. */
	count = sched_getaffinity(0, sizeof(cores), &cores) == 0 ? (size_t)CPU_COUNT(&cores) : most;
	return count < most ? count : most;
}

#define SLICES_MOST 8

struct slice {
	worker_slice work;
	void *context;
	size_t first, end;
};

static int work_on(void *context)
{
	const struct slice *slice = context;

	return slice->work(slice->context, slice->first, slice->end);
}

int worker_slices(size_t count, size_t least, worker_slice work, void *context)
{
	size_t most = count / least, slice_count = most > 1 ? worker_cores(SLICES_MOST) : 1;
	struct worker workers[SLICES_MOST];
	struct slice slices[SLICES_MOST];
	int rc = 0;

	slice_count = slice_count < most ? slice_count : most;
	if (slice_count <= 1)
		return work(context, 0, count);
	for (size_t i = 0; i < slice_count; i++) {
		slices[i] = (struct slice){work, context, count * i / slice_count,
					   count * (i + 1) / slice_count};
		worker_start(&workers[i], WORKER_ALWAYS, work_on, &slices[i]);
	}
	for (size_t i = 0; i < slice_count; i++) {
		int slice_rc = worker_join(&workers[i]);

		rc = rc == 0 ? slice_rc : rc;
	}
	return rc;
}
