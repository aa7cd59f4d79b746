/* at_once.c - threads that do not wait for each other, each with a stream and memory of its own. */
#include "program.h"

#include <stdint.h>
#include <unistd.h>

static unsigned long sums[THREADS];
static __thread CUevent
	own_event; /* without timing; it is recorded, waited for and renewed between launches */

static void use_event(CUstream stream)
{
	switch (below(8)) {
	case 0:
		must(p_cuEventDestroy(own_event), "cuEventDestroy");
		must(p_cuEventCreate(&own_event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
		break;
	case 1:
		must(p_cuStreamWaitEvent(stream, own_event, 0), "cuStreamWaitEvent");
		break;
	default:
		must(p_cuEventRecord(own_event, stream), "cuEventRecord");
	}
}

static void launch_one(const struct launch *one, unsigned number)
{
	struct launch launch = *one;

	launch.stream = 3 + number;
	launch.shape %= SHAPES - 2;
	launch.kind %= KINDS - 1;
	launch.target = launch.source = 2 * number + launch.target % 2;
	do_launch(&launch);
}

static void launch_own(unsigned number)
{
	for (unsigned i = 0; i < phrase_length; i++) {
		launch_one(&phrase[i], number);
		if (below(8) == 0)
			use_event(streams[3 + number]);
	}
}

static void observe_own(unsigned number)
{
	unsigned char bytes[64];

	if (below(4) == 0)
		must(p_cuEventSynchronize(own_event), "cuEventSynchronize");
	if (below(2)) {
		must(p_cuStreamSynchronize(streams[3 + number]), "cuStreamSynchronize");
		return;
	}
	must(p_cuMemcpyDtoH(bytes, buffers[2 * number + below(2)], sizeof(bytes)), "cuMemcpyDtoH");
	for (size_t i = 0; i < sizeof(bytes); i++)
		sums[number] = sums[number] * 31 + bytes[i];
}

/* Memory of its own, of the same sizes as the others'. */
static void renew_own(unsigned number)
{
	static const size_t sizes[] = {256, 4096};
	CUdeviceptr mine[2];
	unsigned char bytes[64];

	for (unsigned i = 0; i < 2; i++) {
		must(p_cuMemAlloc(&mine[i], sizes[i]), "cuMemAlloc");
		must(p_cuMemsetD8Async(mine[i], (unsigned char)(10 * number + i), 64,
				       streams[3 + number]),
		     "cuMemsetD8Async");
	}
	for (unsigned i = 0; i < 2; i++) {
		must(p_cuMemcpyDtoH(bytes, mine[i], sizeof(bytes)), "cuMemcpyDtoH");
		for (size_t j = 0; j < sizeof(bytes); j++)
			sums[number] = sums[number] * 31 + bytes[j];
		must(p_cuMemFree(mine[i]), "cuMemFree");
	}
}

static void capture_own(unsigned number)
{
	CUgraph graph;
	CUgraphExec exec;

	must(p_cuStreamBeginCapture(streams[3 + number], CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
	     "cuStreamBeginCapture");
	for (unsigned i = 0; i < phrase_length; i++)
		launch_one(&phrase[i], number);
	must(p_cuStreamEndCapture(streams[3 + number], &graph), "cuStreamEndCapture");
	must(p_cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiate");
	must(p_cuGraphLaunch(exec, streams[3 + number]), "cuGraphLaunch");
	must(p_cuGraphExecDestroy(exec), "cuGraphExecDestroy");
	must(p_cuGraphDestroy(graph), "cuGraphDestroy");
}

void *run_at_once(void *given)
{
	unsigned number = (unsigned)(uintptr_t)given, steps = steps_left;

	must(p_cuCtxSetCurrent(context), "cuCtxSetCurrent");
	chance = seed * 7919u + number;
	must(p_cuEventCreate(&own_event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
	new_phrase();
	for (unsigned i = 0; i < steps; i++) {
		launch_own(number);
		if (below(3))
			observe_own(number);
		if (below(8) == 0)
			new_phrase();
		if (below(3) == 0)
			renew_own(number);
		if (below(16) == 0)
			capture_own(number);
		if (has_copies && below(4) == 0)
			copy_much(number);
	}
	observe_own(number);
	return NULL;
}

/* The first thread captures, the others wait for the GPU and ask it. */
void *run_beside_captures(void *given)
{
	unsigned number = (unsigned)(uintptr_t)given;
	CUgraph graph;

	must(p_cuCtxSetCurrent(context), "cuCtxSetCurrent");
	chance = seed * 7919u + number;
	for (unsigned i = 0; i < steps_left * 10; i++) {
		if (number) {
			launch_one(&(struct launch){.kind = 1}, number);
			must(p_cuStreamSynchronize(streams[3 + number]), "cuStreamSynchronize");
			(void)p_cuStreamQuery(streams[3 + number]);
			usleep(below(1000));
			continue;
		}
		must(p_cuStreamBeginCapture(streams[3], CU_STREAM_CAPTURE_MODE_RELAXED),
		     "cuStreamBeginCapture");
		usleep(below(1000));
		must(p_cuStreamEndCapture(streams[3], &graph), "cuStreamEndCapture");
		must(p_cuGraphDestroy(graph), "cuGraphDestroy");
		must(p_cuCtxSynchronize(), "cuCtxSynchronize");
		usleep(below(1000));
	}
	return NULL;
}

unsigned long sum_of_thread(unsigned number)
{
	return sums[number];
}
