/*
 * callbacks.h - the stand-in for CUPTI's subscriber: what its other parts call.
 */
#ifndef ROOFLINE_TESTS_MOCK_CALLBACKS_H
#define ROOFLINE_TESTS_MOCK_CALLBACKS_H

#include "mock_cupti.h"

uint32_t mock_device_of(uint64_t context);	    /* device 1 has the contexts of even number */
bool mock_is_shared(CUpti_SubscriberHandle handle); /* has subscribed, and agrees to others */
void mock_call_subscriber(CUpti_CallbackDomain domain, CUpti_CallbackId id,
			  CUpti_CallbackData *data, CUpti_ApiCallbackSite site);

#endif
