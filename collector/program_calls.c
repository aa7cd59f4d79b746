#define _GNU_SOURCE
#include "program_calls.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "api_choice.h"
#include "clock.h"
#include "idle_wait.h"
#include "program_rows.h"
#include "window.h"

#define CBID_LIMIT 2048

static const struct cupti_api *cupti;
static bool is_followed[2][CBID_LIMIT]; /* driver, runtime; not changed once callbacks come */

static bool *followed(CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
	return &is_followed[domain == CUPTI_CB_DOMAIN_RUNTIME_API][id % CBID_LIMIT];
}

static void follow(CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain)
{
	for (uint32_t id = 1; id < CBID_LIMIT; id++) {
		const char *name = NULL;

		if (cupti->cuptiGetCallbackName(domain, id, &name) != CUPTI_SUCCESS || !name ||
		    api_choice_of(name) != API_FOLLOWED)
			continue;
		*followed(domain, id) = true;
		cupti->cuptiEnableCallback(1, subscriber, domain, id);
	}
}

/* ---- events and streams ---- */

enum event_call { NO_EVENT_CALL, EVENT_RECORD, EVENT_SYNCHRONIZE, STREAM_WAIT, STREAM_SYNCHRONIZE };

static const struct {
	CUpti_CallbackId id;
	enum event_call kind;
	bool is_per_thread; /* the default stream is the thread's own */
} event_calls[] = {
	{CUPTI_DRIVER_TRACE_CBID_cuEventRecord, EVENT_RECORD, false},
	{CUPTI_DRIVER_TRACE_CBID_cuEventRecord_ptsz, EVENT_RECORD, true},
	{CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags, EVENT_RECORD, false},
	{CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags_ptsz, EVENT_RECORD, true},
	{CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize, EVENT_SYNCHRONIZE, false},
	{CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent, STREAM_WAIT, false},
	{CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent_ptsz, STREAM_WAIT, true},
	{CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, STREAM_SYNCHRONIZE, false},
	{CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz, STREAM_SYNCHRONIZE, true},
};

/* The members are laid out alike in the variants of a call. */
static void read_parameters(enum event_call kind, const void *parameters, CUevent *event,
			    CUstream *stream)
{
	const cuEventRecord_params *record = parameters;
	const cuStreamWaitEvent_params *wait = parameters;

	*event = NULL;
	*stream = NULL;
	if (kind == EVENT_RECORD) {
		*event = record->hEvent;
		*stream = record->hStream;
	} else if (kind == EVENT_SYNCHRONIZE) {
		*event = ((const cuEventSynchronize_params *)parameters)->hEvent;
	} else if (kind == STREAM_WAIT) {
		*event = wait->hEvent;
		*stream = wait->hStream;
	} else {
		*stream = ((const cuStreamSynchronize_params *)parameters)->hStream;
	}
}

uint32_t program_calls_result(const CUpti_CallbackData *data)
{
	return data->functionReturnValue ? *(const uint32_t *)data->functionReturnValue : 0;
}

uint32_t program_calls_stream_id(const CUpti_CallbackData *data, CUstream stream,
				 bool is_per_thread)
{
	uint32_t id = PROGRAM_NO_STREAM;

	if (!cupti->cuptiGetStreamIdEx ||
	    cupti->cuptiGetStreamIdEx(data->context, stream, is_per_thread, &id) != CUPTI_SUCCESS)
		return PROGRAM_NO_STREAM;
	return id;
}

static void note_event_call(size_t call, const CUpti_CallbackData *data)
{
	enum event_call kind = event_calls[call].kind;
	struct trace_event_calls_row row = {.correlation = data->correlationId,
					    .kind = kind,
					    .context = data->contextUid,
					    .stream = PROGRAM_NO_STREAM};
	CUevent event;
	CUstream stream;

	read_parameters(kind, data->functionParams, &event, &stream);
	row.event = (uintptr_t)event;
	if (kind != EVENT_SYNCHRONIZE)
		row.stream = program_calls_stream_id(data, stream, event_calls[call].is_per_thread);
	program_rows_put_event_call(&row);
}

static bool on_event_call(CUpti_CallbackId id, const CUpti_CallbackData *data)
{
	for (size_t i = 0; i < sizeof(event_calls) / sizeof(*event_calls); i++)
		if (event_calls[i].id == id) {
			if (data->callbackSite == CUPTI_API_EXIT && !program_calls_result(data))
				note_event_call(i, data);
			return true;
		}
	return false;
}

/* ---- times of calls ---- */

static uint32_t this_thread(void)
{
	static __thread uint32_t thread;

	if (!thread)
		thread = (uint32_t)syscall(SYS_gettid);
	return thread;
}

/* CUPTI keeps a number for us between the beginning and the end of a call. */
static void on_followed_call(CUpti_CallbackDomain domain, CUpti_CallbackId id,
			     const CUpti_CallbackData *data)
{
	int64_t now_ns = clock_ns(CLOCK_REALTIME);
	struct trace_api_row row = {.end_ns = now_ns, .correlation = data->correlationId};

	if (data->callbackSite == CUPTI_API_ENTER) {
		*data->correlationData = (uint64_t)now_ns;
		return;
	}
	row.start_ns = (int64_t)*data->correlationData;
	row.thread = this_thread();
	row.result = program_calls_result(data);
	if (row.start_ns && window_contains(row.start_ns) && !idle_wait_is_thread(row.thread))
		program_rows_put_call(domain, id, &row);
}

bool program_calls_on_call(CUpti_CallbackDomain domain, CUpti_CallbackId id,
			   const CUpti_CallbackData *data)
{
	if (*followed(domain, id)) {
		on_followed_call(domain, id, data);
		return true;
	}
	return domain == CUPTI_CB_DOMAIN_DRIVER_API && on_event_call(id, data);
}

void program_calls_start(const struct cupti_api *api, CUpti_SubscriberHandle subscriber,
			 const struct options *options)
{
	cupti = api;
	if (options->api == API_CHOSEN) {
		follow(subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
		follow(subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
	}
	for (size_t i = 0; options->events && i < sizeof(event_calls) / sizeof(*event_calls); i++)
		cupti->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
					   event_calls[i].id);
}
