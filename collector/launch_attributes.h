/*
 * launch_attributes.h - what a launch by cuLaunchKernelEx asks for and the record of its kernel does not tell: that it
 * may begin before the kernel before it has ended, an event for which others may wait before it has, a priority, that it
 * is cooperative.
 *
 * Other calls cannot ask for these, or the record tells, and are not followed; a launch without them has no row.
 */
#ifndef ROOFLINE_LAUNCH_ATTRIBUTES_H
#define ROOFLINE_LAUNCH_ATTRIBUTES_H

#include "cupti_api.h"
#include "options.h"

/* Enables the callbacks, when the options ask for it. */
void launch_attributes_start(const struct cupti_api *cupti, CUpti_SubscriberHandle subscriber,
			     const struct options *options);

/* Whether the callback of this call must stay enabled. */
bool launch_attributes_follows(CUpti_CallbackId id);

/* On a callback of the driver's. */
void launch_attributes_on_call(CUpti_CallbackId id, const CUpti_CallbackData *data);

#endif
