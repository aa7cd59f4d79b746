/*
 * old_cupti.h - what a CUPTI older than the one that the collector was built with cannot do.
 *
 * Records grow at their end.  A member that an older CUPTI does not write lies in the next record:
 * ask here before it is read.
 */
#ifndef ROOFLINE_OLD_CUPTI_H
#define ROOFLINE_OLD_CUPTI_H

#include <stdbool.h>

#include "cupti_api.h"
#include "options.h"

/* Says in one line what will be missing because of the version, and counts it as a loss. */
void old_cupti_tell(const struct cupti_api *cupti, const struct options *options);

/* False: it records all calls of an API or none. */
bool old_cupti_chooses_calls(const struct cupti_api *cupti);

bool old_cupti_is_device_launched(const struct cupti_api *cupti,
				  const CUpti_ActivityKernel10 *kernel);
uint64_t old_cupti_copy_count(const struct cupti_api *cupti, const CUpti_ActivityMemcpy6 *copy);
uint32_t old_cupti_sm_count(const struct cupti_api *cupti, const CUpti_ActivityContext3 *context);

#endif
