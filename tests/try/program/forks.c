/*
 * forks.c - kernels in streams that fork and join by events, in ways that chance has: each has its number in its stream, so that
 * the driver's stand-in knows what comes before it in whatever order it is told.
 */
#include "program.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FORK_STREAMS = 6, FORK_EVENTS = 10, TIMED_EVENTS = 2, OPS_MAX = 60 };
enum what { LAUNCH, RECORD, WAIT };

struct op {
	enum what what;
	unsigned stream, event;
};

static CUstream fork_streams[FORK_STREAMS]; /* the first one is the legacy default stream */
static CUevent fork_events[FORK_EVENTS];    /* the last ones with timing */
static unsigned numbers[FORK_STREAMS];
static CUfunction numbered;

bool takes_turns;

static __thread struct op ops[OPS_MAX];
static __thread unsigned op_count;

static void renew_event(unsigned event)
{
	static const unsigned flags[] = {CU_EVENT_DISABLE_TIMING,
					 CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC};

	if (fork_events[event])
		must(p_cuEventDestroy(fork_events[event]), "cuEventDestroy");
	must(p_cuEventCreate(&fork_events[event],
			     event < FORK_EVENTS - TIMED_EVENTS ? flags[below(2)] : 0),
	     "cuEventCreate");
}

void set_up_forks(void)
{
	must(p_cuModuleGetFunction(&numbered, NULL, "numbered"), "numbered");
	for (unsigned i = 1; i < FORK_STREAMS; i++)
		must(p_cuStreamCreate(&fork_streams[i], i % 2 ? CU_STREAM_NON_BLOCKING : 0),
		     "cuStreamCreate");
	for (unsigned i = 0; i < FORK_EVENTS; i++)
		renew_event(i);
	for (unsigned i = 0; i < BUFFERS; i++)
		must(p_cuMemsetD8Async(buffers[i], (unsigned char)i, 64, NULL), "cuMemsetD8Async");
	must(p_cuCtxSynchronize(), "cuCtxSynchronize");
}

static void launch(unsigned stream)
{
	unsigned number = ++numbers[stream], value = below(20);
	CUdeviceptr target =
		buffers[stream]; /* nothing orders what streams do to the same memory */
	void *parameters[] = {&target, &stream, &number, &value};

	must(p_cuLaunchKernel(numbered, 1 + value % 3, 1, 1, 32, 1, 1, 0, fork_streams[stream],
			      parameters, NULL),
	     "numbered");
}

static void add(enum what what, unsigned stream, unsigned event)
{
	if (op_count < OPS_MAX)
		ops[op_count++] = (struct op){what, stream, event};
}

/* Branches of what one stream has, which may have branches themselves, and most of them join again. */
static void add_fork(unsigned first, unsigned depth)
{
	unsigned branches = 1 + below(3), forked = below(FORK_EVENTS - TIMED_EVENTS);

	if (below(3))
		add(LAUNCH, first, 0);
	add(RECORD, first, forked);
	for (unsigned i = 0; i < branches; i++) {
		unsigned stream = below(40) ? 1 + below(FORK_STREAMS - 1) : 0;
		unsigned joined = below(20) ? below(FORK_EVENTS - TIMED_EVENTS) : FORK_EVENTS - 1;

		add(WAIT, stream, forked);
		for (unsigned k = below(4); k > 0; k--)
			add(LAUNCH, stream, 0);
		if (depth && below(4) == 0)
			add_fork(stream, depth - 1);
		if (below(3) == 0)
			add(LAUNCH, first, 0);
		if (below(16) == 0)
			continue;
		add(RECORD, stream, joined);
		add(WAIT, first, joined);
	}
	if (below(3))
		add(LAUNCH, first, 0);
}

/* Streams by turns, which nothing orders. */
static void add_turns(void)
{
	unsigned streams_used = 2 + below(FORK_STREAMS - 2);

	for (unsigned i = 0; i < OPS_MAX; i++)
		add(LAUNCH, 1 + i % streams_used, 0);
}

static void new_ops(void)
{
	op_count = 0;
	if (takes_turns && below(6)) {
		add_turns();
		return;
	}
	if (below(5)) {
		add_fork(1 + below(FORK_STREAMS - 1), 2);
		return;
	}
	for (unsigned i = 1 + below(30); i > 0; i--)
		add(below(2)   ? LAUNCH
		    : below(2) ? RECORD
			       : WAIT,
		    below(FORK_STREAMS), below(FORK_EVENTS));
}

static void run_ops(void)
{
	for (unsigned i = 0; i < op_count; i++) {
		CUstream stream = fork_streams[ops[i].stream];
		CUevent event = fork_events[ops[i].event];

		if (ops[i].what == LAUNCH)
			launch(ops[i].stream);
		else if (ops[i].what == RECORD)
			must(below(8) ? p_cuEventRecord(event, stream)
				      : p_cuEventRecordWithFlags(event, stream, 0),
			     "cuEventRecord");
		else
			must(p_cuStreamWaitEvent(stream, event, 0), "cuStreamWaitEvent");
	}
}

/* What was told of the work in the streams; what nobody waited for is not done. */
static void ask(void)
{
	for (unsigned i = 0; i < FORK_STREAMS; i++)
		printf("%d", p_cuStreamQuery(fork_streams[i]) == CUDA_SUCCESS);
	for (unsigned i = 0; i < FORK_EVENTS; i++)
		printf("%d", p_cuEventQuery(fork_events[i]) == CUDA_SUCCESS);
	report(" asked", CUDA_SUCCESS);
}

static void look_at_memory(void)
{
	unsigned char bytes[64];
	unsigned long sum = 0;

	must(p_cuMemcpyDtoH(bytes, buffers[below(BUFFERS)], sizeof(bytes)), "cuMemcpyDtoH");
	for (size_t i = 0; i < sizeof(bytes); i++)
		sum = sum * 31 + bytes[i];
	report("copied", (CUresult)(sum & 0xffff));
}

static void observe_fork(void)
{
	CUevent event = fork_events[below(FORK_EVENTS)];
	unsigned stream = below(FORK_STREAMS);

	switch (below(10)) {
	case 0:
		report_wait("synchronize", p_cuCtxSynchronize());
		break;
	case 1:
	case 2:
		report_wait("stream", p_cuStreamSynchronize(fork_streams[stream]));
		break;
	case 3:
	case 4:
		report("event", p_cuEventSynchronize(event));
		ask();
		break;
	case 5:
		report("query", p_cuEventQuery(event));
		break;
	case 6:
		renew_event(below(FORK_EVENTS));
		if (below(2))
			ask();
		break;
	case 7:
		look_at_memory();
		break;
	case 8:
		must(p_cuStreamWaitEvent(fork_streams[stream], event, 0), "cuStreamWaitEvent");
		launch(stream);
		break;
	default:
		ask();
	}
}

/* It is destroyed with work in it, and another one may get its handle. */
static void renew_fork_stream(void)
{
	unsigned i = 1 + below(FORK_STREAMS - 1);

	must(p_cuStreamDestroy(fork_streams[i]), "cuStreamDestroy");
	must(p_cuStreamCreate(&fork_streams[i], i % 2 ? CU_STREAM_NON_BLOCKING : 0),
	     "cuStreamCreate");
}

/* An event is destroyed meanwhile. */
static void capture_nothing(void)
{
	CUstream stream = fork_streams[1];
	CUgraph graph;

	must(p_cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED),
	     "cuStreamBeginCapture");
	for (unsigned i = 1 + below(4); i > 0; i--)
		renew_event(below(FORK_EVENTS));
	if (below(2)) /* after which kernels may be launched in another way */
		must(p_cuFuncSetCacheConfig(numbered, CU_FUNC_CACHE_PREFER_L1),
		     "cuFuncSetCacheConfig");
	must(p_cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
	must(p_cuGraphDestroy(graph), "cuGraphDestroy");
}

void step_forks(void)
{
	if (!op_count || below(4) == 0)
		new_ops();
	for (unsigned i = 1 + below(12); i > 0; i--)
		run_ops();
	observe_fork();
	if (below(40) == 0)
		renew_fork_stream();
	if (below(20) == 0)
		capture_nothing();
}

/* ---- threads that use a stream at once ---- */

static void launch_in(unsigned stream, bool is_packed)
{
	struct {
		CUdeviceptr target;
		unsigned stream, number, value;
	} packed = {buffers[stream], stream, 0, 0};
	size_t bytes = sizeof(packed);
	void *parameters[] = {&packed.target, &packed.stream, &packed.number, &packed.value};
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
			 &bytes, CU_LAUNCH_PARAM_END};

	must(p_cuLaunchKernel(numbered, 1, 1, 1, 32, 1, 1, 0, fork_streams[stream],
			      is_packed ? NULL : parameters, is_packed ? extra : NULL),
	     "numbered");
}

static void fork_and_join(void)
{
	for (unsigned i = 0; i < 4; i++) {
		unsigned stream = i % 2 ? 2 : 1;

		launch_in(stream, false);
		must(p_cuEventRecord(fork_events[i], fork_streams[stream]), "cuEventRecord");
		must(p_cuStreamWaitEvent(fork_streams[3 - stream], fork_events[i], 0),
		     "cuStreamWaitEvent");
	}
	launch_in(1, false);
	must(p_cuStreamSynchronize(fork_streams[1]), "cuStreamSynchronize");
}

void *run_shared(void *number)
{
	must(p_cuCtxSetCurrent(context), "cuCtxSetCurrent");
	chance = seed * 7919u + (uintptr_t)number;
	for (unsigned i = 0; i < steps_left * 10; i++) {
		if (number)
			launch_in(2, true);
		else
			fork_and_join();
		usleep(below(number ? 2000 : 300));
	}
	return NULL;
}
