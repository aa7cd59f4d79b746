/*
 * synchronize.c - waits of the host: made, or left out (waits.h); and what it must know of streams and events for that.
 */
#include "synchronize.h"

#include "before.h"
#include "calls.h"
#include "driver.h"
#include "run_time.h"
#include "waits.h"

/* A wait has ended with this result. */
static CUresult ended(CUresult result, enum watched_call call, int64_t begin_ns)
{
	calls_end(call, begin_ns);
	run_time_end();
	return result;
}

#define SYNCHRONIZE_STREAM(name, exported, is_of_thread, member)               \
	CUresult name(CUstream stream)                                         \
	{                                                                      \
		__typeof__(cuStreamSynchronize) *real = driver_open()->member; \
		int64_t begin_ns = calls_begin();                              \
		CUresult result = CUDA_SUCCESS;                                \
                                                                               \
		if (!waits_leave_out_stream(stream, is_of_thread)) {           \
			FLUSH_BEFORE(exported);                                \
			result = real ? real(stream) : CUDA_ERROR_NOT_FOUND;   \
		}                                                              \
		return ended(result, WATCHED_STREAM_WAIT, begin_ns);           \
	}

SYNCHRONIZE_STREAM(try_synchronize_stream, "cuStreamSynchronize", false, stream_synchronize)
SYNCHRONIZE_STREAM(try_synchronize_stream_ptsz, "cuStreamSynchronize_ptsz", true,
		   stream_synchronize_ptsz)

CUresult try_synchronize_context(void)
{
	const struct driver *driver = driver_open();
	int64_t begin_ns = calls_begin();
	CUresult result = CUDA_SUCCESS;

	if (!waits_leave_out_context()) {
		FLUSH_BEFORE("cuCtxSynchronize");
		result = driver->synchronize ? driver->synchronize() : CUDA_ERROR_NOT_FOUND;
		if (result == CUDA_SUCCESS)
			waits_have_waited_for_context();
	}
	return ended(result, WATCHED_CONTEXT_WAIT, begin_ns);
}

/* Another context than the current one, whose work is not followed: the wait is made. */
static CUresult synchronize_other(CUcontext context)
{
	const struct driver *driver = driver_open();
	int64_t begin_ns = calls_begin();

	FLUSH_BEFORE("cuCtxSynchronize_v2");
	waits_before(TELLS);
	return ended(driver->synchronize_v2(context), WATCHED_CONTEXT_WAIT, begin_ns);
}

CUresult try_synchronize_context_v2(CUcontext context)
{
	const struct driver *driver = driver_open();
	CUcontext current = NULL;

	if (context && driver->synchronize_v2 && driver->get_current &&
	    (driver->get_current(&current) != CUDA_SUCCESS || current != context))
		return synchronize_other(context);
	return try_synchronize_context();
}

CUresult try_synchronize_event(CUevent event)
{
	const struct driver *driver = driver_open();
	int64_t begin_ns = calls_begin();
	CUresult result = CUDA_SUCCESS;

	FLUSH_BEFORE("cuEventSynchronize");
	if (!waits_leave_out_event(event))
		result = driver->event_synchronize ? driver->event_synchronize(event)
						   : CUDA_ERROR_NOT_FOUND;
	return ended(result, WATCHED_EVENT_WAIT, begin_ns);
}

CUresult try_create_event(CUevent *event, unsigned flags)
{
	const struct driver *driver = driver_open();
	CUresult result =
		driver->event_create ? driver->event_create(event, flags) : CUDA_ERROR_NOT_FOUND;

	if (result == CUDA_SUCCESS)
		deferred_add_event(*event, flags);
	return result;
}

/* What waits for it, or is recorded in it, goes on all the same. */
CUresult try_destroy_event(CUevent event)
{
	const struct driver *driver = driver_open();

	waits_before(TELLS);
	if (!deferred_lose_event(event))
		return CUDA_SUCCESS;
	return driver->event_destroy ? driver->event_destroy(event) : CUDA_ERROR_NOT_FOUND;
}

/* One that is recorded in, or waited for by, the stream of the calling thread, or with flags, is passed on at once. */
static bool put_event(CUevent event, CUstream stream, unsigned flags, bool is_of_thread,
		      bool is_wait)
{
	return !flags && (stream || !is_of_thread) && deferred_put_event(event, stream, is_wait);
}

#define RECORD(name, exported, is_of_thread, member, flags, declared, ...)      \
	CUresult name declared                                                  \
	{                                                                       \
		__typeof__(driver_open()->member) real = driver_open()->member; \
                                                                                \
		waits_note_record(event);                                       \
		waits_note_work(stream, is_of_thread);                          \
		if (put_event(event, stream, flags, is_of_thread, false))       \
			return CUDA_SUCCESS;                                    \
		FLUSH_BEFORE(exported);                                         \
		return real ? real(__VA_ARGS__) : CUDA_ERROR_NOT_FOUND;         \
	}

RECORD(try_record_event, "cuEventRecord", false, event_record, 0, (CUevent event, CUstream stream),
       event, stream)
RECORD(try_record_event_ptsz, "cuEventRecord_ptsz", true, event_record_ptsz, 0,
       (CUevent event, CUstream stream), event, stream)
RECORD(try_record_event_with, "cuEventRecordWithFlags", false, event_record_with, flags,
       (CUevent event, CUstream stream, unsigned flags), event, stream, flags)
RECORD(try_record_event_with_ptsz, "cuEventRecordWithFlags_ptsz", true, event_record_with_ptsz,
       flags, (CUevent event, CUstream stream, unsigned flags), event, stream, flags)

static CUresult wait_event(__typeof__(cuStreamWaitEvent) *real, CUstream stream, CUevent event,
			   unsigned flags)
{
	return real ? real(stream, event, flags) : CUDA_ERROR_NOT_FOUND;
}

CUresult try_wait_event(CUstream stream, CUevent event, unsigned flags)
{
	waits_note_work(stream, false);
	if (put_event(event, stream, flags, false, true))
		return CUDA_SUCCESS;
	FLUSH_BEFORE("cuStreamWaitEvent");
	return wait_event(driver_open()->wait_event, stream, event, flags);
}

CUresult try_wait_event_ptsz(CUstream stream, CUevent event, unsigned flags)
{
	waits_note_work(stream, true);
	if (put_event(event, stream, flags, true, true))
		return CUDA_SUCCESS;
	FLUSH_BEFORE("cuStreamWaitEvent_ptsz");
	return wait_event(driver_open()->wait_event_ptsz, stream, event, flags);
}

CUresult try_destroy_stream(CUstream stream)
{
	const struct driver *driver = driver_open();

	if (!driver->stream_destroy)
		return CUDA_ERROR_NOT_FOUND;
	deferred_before(lookup_row("cuStreamDestroy_v2"), RENAMES);
	waits_before(TELLS);
	waits_forget_stream(stream);
	return driver->stream_destroy(stream);
}
