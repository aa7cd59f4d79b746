#define _GNU_SOURCE /* sched_getaffinity */

#include "base/worker.h"

#include <sched.h>

static void *run(void *context)
{
	struct worker *worker = context;

	worker->rc = worker->work(worker->context);
	return NULL;
}

void worker_start(struct worker *worker, int (*work)(void *context), void *context)
{
	*worker = (struct worker){.work = work, .context = context};
	worker->is_running = pthread_create(&worker->thread, NULL, run, worker) == 0;
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
