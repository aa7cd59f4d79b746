#include "progress.h"

#include <pthread.h>
#include <stdatomic.h>

static atomic_bool is_counting;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct progress progress;
static int64_t busy_until_ns[CONTROL_DEVICES];
static uint32_t
	last_graph_launch; /* correlation id: the nodes of one launch come one after the other */

static bool is_launch(enum progress_kind kind, uint32_t graph, uint32_t correlation)
{
	if (kind == PROGRESS_GRAPH || !graph)
		return kind != PROGRESS_COPY;
	if (correlation == last_graph_launch)
		return false;
	last_graph_launch = correlation;
	return true;
}

static void add_busy(uint32_t device, int64_t start_ns, int64_t end_ns)
{
	int64_t *until_ns = &busy_until_ns[device];

	if (end_ns <= *until_ns)
		return;
	progress.busy_ns[device] +=
		(uint64_t)(end_ns - (start_ns > *until_ns ? start_ns : *until_ns));
	*until_ns = end_ns;
}

void progress_add_operation(enum progress_kind kind, uint32_t device, int64_t start_ns,
			    int64_t end_ns, uint32_t graph, uint32_t correlation)
{
	if (!atomic_load_explicit(&is_counting, memory_order_relaxed))
		return;
	pthread_mutex_lock(&lock);
	progress.launches += is_launch(kind, graph, correlation);
	progress.kernels += kind == PROGRESS_KERNEL;
	progress.copies += kind == PROGRESS_COPY;
	if (device < CONTROL_DEVICES)
		add_busy(device, start_ns, end_ns);
	pthread_mutex_unlock(&lock);
}

void progress_add_call(void)
{
	if (!atomic_load_explicit(&is_counting, memory_order_relaxed))
		return;
	pthread_mutex_lock(&lock);
	progress.calls++;
	pthread_mutex_unlock(&lock);
}

struct progress progress_read(void)
{
	struct progress found;

	pthread_mutex_lock(&lock);
	atomic_store(&is_counting, true);
	found = progress;
	pthread_mutex_unlock(&lock);
	return found;
}
