/* contexts.c - contexts, streams and events. */
#define _GNU_SOURCE
#include "fake.h"

#include <stdlib.h>

static struct CUctx_st contexts[4] = {{0, CUDA_SUCCESS, 0}};
static int context_count = 1;
static __thread CUcontext stack[16];
static __thread int depth;
static int stream_count = 3;

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
	if (fake_captures)
		fake_log_op("capture_disturbed", fake_captures, 0);
	pthread_mutex_unlock(&fake_lock);
	return fake_captures ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : fake_wait();
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
	(void)flags;
	*stream = calloc(1, sizeof(**stream));
	**stream = (struct CUstream_st){.id = ++stream_count,
					.priority = priority,
					.context = fake_current()};
	return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
	return cuStreamCreateWithPriority(stream, flags, 0);
}

CUresult cuStreamDestroy(CUstream stream)
{
	fake_log_op("stream_destroy", stream->id, 0);
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
	(void)stream;
	return fake_answer();
}

CUresult cuStreamSynchronize_ptsz(CUstream stream)
{
	return cuStreamSynchronize(stream);
}

CUresult cuStreamQuery(CUstream stream)
{
	(void)stream;
	return fake_answer();
}

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
	static long count;

	(void)flags;
	*event = (CUevent)++count;
	return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
	fake_mix(&event, sizeof(event));
	return fake_observe("event_record", fake_stream_of(stream)->id);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
	(void)flags;
	fake_mix(&event, sizeof(event));
	return fake_observe("stream_wait_event", fake_stream_of(stream)->id);
}

CUresult cuEventSynchronize(CUevent event)
{
	(void)event;
	return fake_answer();
}

CUresult cuEventQuery(CUevent event)
{
	(void)event;
	return fake_answer();
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
	CUresult result = fake_observe("host_function", fake_stream_of(stream)->id);

	function(data);
	return result;
}
