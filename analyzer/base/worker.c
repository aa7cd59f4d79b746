#include "base/worker.h"

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
