/*
 * program_calls.h - calls that are followed by callbacks: those that api_choice.h says, and which event and stream a
 * call was about.
 */
#ifndef ROOFLINE_PROGRAM_CALLS_H
#define ROOFLINE_PROGRAM_CALLS_H

#include "cupti_api.h"
#include "options.h"

/* Enables the callbacks: of the calls, and with options->events those of events and streams. */
void program_calls_start(const struct cupti_api *cupti, CUpti_SubscriberHandle subscriber,
			 const struct options *options);

/* Return what a call of the program returned, at its end: a cudaError_t or CUresult. */
uint32_t program_calls_result(const CUpti_CallbackData *data);

#define PROGRAM_NO_STREAM UINT32_MAX

/* Return streams.stream of the stream that a call was given and that it has used with success, or PROGRAM_NO_STREAM.
 * is_per_thread: the call's default stream is the thread's own. */
uint32_t program_calls_stream_id(const CUpti_CallbackData *data, CUstream stream,
				 bool is_per_thread);

/* On a callback of either API.  Returns false when it is about another call. */
bool program_calls_on_call(CUpti_CallbackDomain domain, CUpti_CallbackId id,
			   const CUpti_CallbackData *data);

#endif
