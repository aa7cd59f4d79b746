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

CUresult try_synchronize_stream(CUstream stream)
{
	int64_t begin_ns = calls_begin();

	FLUSH_BEFORE("cuStreamSynchronize");
	return ended(waits_for_stream(stream, false, driver_open()->stream_synchronize),
		     WATCHED_STREAM_WAIT, begin_ns);
}

CUresult try_synchronize_stream_ptsz(CUstream stream)
{
	int64_t begin_ns = calls_begin();

	FLUSH_BEFORE("cuStreamSynchronize_ptsz");
	return ended(waits_for_stream(stream, true, driver_open()->stream_synchronize_ptsz),
		     WATCHED_STREAM_WAIT, begin_ns);
}

CUresult try_synchronize_context(void)
{
	int64_t begin_ns = calls_begin();

	FLUSH_BEFORE("cuCtxSynchronize");
	return ended(waits_for_context(), WATCHED_CONTEXT_WAIT, begin_ns);
}

CUresult try_synchronize_event(CUevent event)
{
	int64_t begin_ns = calls_begin();

	FLUSH_BEFORE("cuEventSynchronize");
	return ended(waits_for_event(event), WATCHED_EVENT_WAIT, begin_ns);
}

#define RECORD(name, exported, is_of_thread, member, declared, ...)             \
	CUresult name declared                                                  \
	{                                                                       \
		__typeof__(driver_open()->member) real = driver_open()->member; \
                                                                                \
		FLUSH_BEFORE(exported);                                         \
		waits_note_record(event);                                       \
		waits_note_work(stream, is_of_thread);                          \
		return real ? real(__VA_ARGS__) : CUDA_ERROR_NOT_FOUND;         \
	}

RECORD(try_record_event, "cuEventRecord", false, event_record, (CUevent event, CUstream stream),
       event, stream)
RECORD(try_record_event_ptsz, "cuEventRecord_ptsz", true, event_record_ptsz,
       (CUevent event, CUstream stream), event, stream)
RECORD(try_record_event_with, "cuEventRecordWithFlags", false, event_record_with,
       (CUevent event, CUstream stream, unsigned flags), event, stream, flags)
RECORD(try_record_event_with_ptsz, "cuEventRecordWithFlags_ptsz", true, event_record_with_ptsz,
       (CUevent event, CUstream stream, unsigned flags), event, stream, flags)

static CUresult wait_event(__typeof__(cuStreamWaitEvent) *real, CUstream stream, CUevent event,
			   unsigned flags, bool is_of_thread)
{
	waits_note_work(stream, is_of_thread);
	return real ? real(stream, event, flags) : CUDA_ERROR_NOT_FOUND;
}

CUresult try_wait_event(CUstream stream, CUevent event, unsigned flags)
{
	FLUSH_BEFORE("cuStreamWaitEvent");
	return wait_event(driver_open()->wait_event, stream, event, flags, false);
}

CUresult try_wait_event_ptsz(CUstream stream, CUevent event, unsigned flags)
{
	FLUSH_BEFORE("cuStreamWaitEvent_ptsz");
	return wait_event(driver_open()->wait_event_ptsz, stream, event, flags, true);
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
