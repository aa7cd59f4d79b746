/* contexts.c - contexts, streams and events. */
#define _GNU_SOURCE
#include "fake.h"

#include <stdlib.h>
#include <unistd.h>

static struct CUctx_st contexts[4] = {{0, CUDA_SUCCESS, 0}};
static int context_count = 1;
static __thread CUcontext stack[16];
static __thread int depth;
static CUstream live_streams[STREAMS_MOST];

CUcontext fake_current(void)
{
	return depth ? stack[depth - 1] : NULL;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	(void)device;
	*context = &contexts[0];
	return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *parameters, unsigned flags,
			CUdevice device)
{
	(void)parameters, (void)flags, (void)device;
	*context = &contexts[context_count];
	(*context)->id = context_count++;
	stack[depth++] = *context;
	return CUDA_SUCCESS;
}

/* The next one has the same handle, where it was the last. */
CUresult cuCtxDestroy(CUcontext context)
{
	fake_free_all(context);
	if (depth && stack[depth - 1] == context)
		depth--;
	if (context == &contexts[context_count - 1])
		context_count--;
	return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
	depth = depth ? depth : 1;
	stack[depth - 1] = context;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
	*context = fake_current();
	return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext context)
{
	stack[depth++] = context;
	return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *context)
{
	*context = stack[--depth];
	return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
	pthread_mutex_lock(&fake_lock);
	fake_disturb();
	pthread_mutex_unlock(&fake_lock);
	return fake_captures ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : fake_wait();
}

CUresult cuCtxSynchronize_v2(CUcontext context)
{
	CUcontext before = fake_current();
	CUresult result;

	stack[depth++] = context ? context : before;
	result = cuCtxSynchronize();
	depth--;
	return result;
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
	*stream = calloc(1, sizeof(**stream));
	pthread_mutex_lock(&fake_lock);
	**stream = (struct CUstream_st){.id = fake_new_stream(flags != CU_STREAM_NON_BLOCKING),
					.priority = priority,
					.context = fake_current()};
	live_streams[(*stream)->id] = *stream;
	pthread_mutex_unlock(&fake_lock);
	return CUDA_SUCCESS;
}

/* One that was destroyed must not be used. */
bool fake_is_live(CUstream stream)
{
	for (int i = 0; i < STREAMS_MOST; i++)
		if (live_streams[i] == stream)
			return true;
	return false;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
	return cuStreamCreateWithPriority(stream, flags, 0);
}

CUresult cuStreamDestroy(CUstream stream)
{
	pthread_mutex_lock(&fake_lock);
	fake_log_op("stream_destroy", stream->id, 0);
	fake_end_stream(stream->id);
	live_streams[stream->id] = NULL;
	pthread_mutex_unlock(&fake_lock);
	free(stream);
	return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context)
{
	*context = fake_stream_of(stream)->context;
	return CUDA_SUCCESS;
}

CUresult cuStreamGetPriority(CUstream stream, int *priority)
{
	*priority = fake_stream_of(stream)->priority;
	return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream)
{
	pthread_mutex_lock(&fake_lock);
	fake_wait_for_stream(fake_stream_of(stream)->id);
	pthread_mutex_unlock(&fake_lock);
	return fake_answer();
}

CUresult cuStreamSynchronize_ptsz(CUstream stream)
{
	return cuStreamSynchronize(stream ? stream : CU_STREAM_PER_THREAD);
}

static CUresult answer(bool is_done)
{
	CUresult result = fake_answer();

	return result == CUDA_SUCCESS && !is_done ? CUDA_ERROR_NOT_READY : result;
}

CUresult cuStreamQuery(CUstream stream)
{
	bool is_done;

	pthread_mutex_lock(&fake_lock);
	is_done = fake_is_done(fake_stream_of(stream)->id);
	pthread_mutex_unlock(&fake_lock);
	/* Long enough for a timer of the library that is tested: the answer is an old one then. */
	if (getenv("FAKE_DRIVER_SLOW_QUERIES"))
		usleep(500);
	return answer(is_done || getenv("FAKE_DRIVER_IDLE"));
}

/* Without timing: those of the library that is tested, which are in no hash. */
enum { SILENT_EVENTS = 2048 };

static CUevent unused_silent[SILENT_EVENTS];
static unsigned unused_count;

static CUevent take_unused(void)
{
	CUevent event = NULL;

	pthread_mutex_lock(&fake_lock);
	if (unused_count)
		event = unused_silent[--unused_count];
	pthread_mutex_unlock(&fake_lock);
	return event;
}

/* Of those without timing, which are used again: one that was destroyed stands for nothing. */
static bool is_dead[2 * SILENT_EVENTS + 1];
static unsigned long event_numbers[2 * SILENT_EVENTS + 1];

unsigned long fake_event_number(CUevent event)
{
	return event_numbers[(size_t)event] + is_dead[(size_t)event];
}

void fake_use_event(CUevent event)
{
	if ((size_t)event <= 2 * SILENT_EVENTS && is_dead[(size_t)event])
		fake_log_op("dead_event", 0, 0);
}

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
	static long counts[2];
	bool is_silent = flags & CU_EVENT_DISABLE_TIMING;

	pthread_mutex_lock(&fake_lock);
	*event = is_silent ? take_unused() : NULL;
	if (!*event)
		*event = (CUevent)(++counts[is_silent] + (is_silent ? SILENT_EVENTS : 0));
	is_dead[(size_t)*event] = false;
	event_numbers[(size_t)*event] += 2;
	fake_new_event(*event);
	pthread_mutex_unlock(&fake_lock);
	return CUDA_SUCCESS;
}

bool fake_is_silent(CUevent event)
{
	return (size_t)event > SILENT_EVENTS;
}

CUresult cuEventDestroy(CUevent event)
{
	if (!fake_is_silent(event))
		return CUDA_SUCCESS;
	pthread_mutex_lock(&fake_lock);
	fake_use_event(event);
	is_dead[(size_t)event] = true;
	unused_silent[unused_count++] = event;
	pthread_mutex_unlock(&fake_lock);
	return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
	CUresult result = fake_answer();

	pthread_mutex_lock(&fake_lock);
	fake_use_event(event);
	if (!fake_is_silent(event)) {
		fake_mix(&event, sizeof(event));
		result = fake_observe("event_record", fake_stream_of(stream)->id);
	}
	fake_record(event, fake_stream_of(stream)->id);
	fake_note_pieces(event);
	pthread_mutex_unlock(&fake_lock);
	return result;
}

CUresult cuEventRecord_ptsz(CUevent event, CUstream stream)
{
	return cuEventRecord(event, stream ? stream : CU_STREAM_PER_THREAD);
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags)
{
	(void)flags;
	return cuEventRecord(event, stream);
}

CUresult cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream, unsigned flags)
{
	(void)flags;
	return cuEventRecord_ptsz(event, stream);
}

/* It is what comes before what that the hash has of it. */
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
	(void)flags;
	pthread_mutex_lock(&fake_lock);
	fake_use_event(event);
	fake_stream_waits(fake_stream_of(stream)->id, event);
	pthread_mutex_unlock(&fake_lock);
	return fake_answer();
}

CUresult cuStreamWaitEvent_ptsz(CUstream stream, CUevent event, unsigned flags)
{
	return cuStreamWaitEvent(stream ? stream : CU_STREAM_PER_THREAD, event, flags);
}

static unsigned long event_waits;

unsigned long fake_event_waits(void)
{
	return __atomic_load_n(&event_waits, __ATOMIC_SEQ_CST);
}

CUresult cuEventSynchronize(CUevent event)
{
	static unsigned times;

	if (fake_tells_disturbed())
		usleep(__atomic_fetch_add(&times, 1, __ATOMIC_RELAXED) * 367 % 1000);
	pthread_mutex_lock(&fake_lock);
	if (fake_is_silent(event))
		fake_disturb();
	fake_use_event(event);
	fake_settle_pieces_behind(event);
	fake_wait_for_event(event);
	__atomic_add_fetch(&event_waits, 1, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&fake_lock);
	return fake_answer();
}

CUresult cuEventQuery(CUevent event)
{
	bool is_done;

	pthread_mutex_lock(&fake_lock);
	if (fake_is_silent(event))
		fake_disturb();
	fake_use_event(event);
	is_done = fake_settle_pieces_before(event) && fake_event_is_done(event);
	pthread_mutex_unlock(&fake_lock);
	return answer(is_done);
}

CUresult cuCtxGetDevice(CUdevice *device)
{
	*device = 0;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
	*count = 1;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	*device = ordinal;
	return CUDA_SUCCESS;
}

/* FAKE_DRIVER_SHARES=1: the GPU reads and writes all memory of the host. */
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
	(void)device;
	*value = attribute == CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS &&
		 getenv("FAKE_DRIVER_SHARES");
	return CUDA_SUCCESS;
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
	CUresult result;

	pthread_mutex_lock(&fake_lock);
	fake_order(fake_stream_of(stream)->id);
	result = fake_observe("host_function", fake_stream_of(stream)->id);
	fake_call(fake_stream_of(stream)->id, function, data);
	pthread_mutex_unlock(&fake_lock);
	return result;
}
