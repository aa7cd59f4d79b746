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

/* On a callback of either API.  Returns false when it is about another call. */
bool program_calls_on_call(CUpti_CallbackDomain domain, CUpti_CallbackId id,
			   const CUpti_CallbackData *data);

#endif
