/*
 * allocation_calls.h - memory that the program allocates and frees, seen in the driver's calls.
 *
 * CUPTI's records of memory are not used: the library of CUDA 13.0 ends a program with SIGSEGV when it frees memory
 * in the order of a stream that cudaMalloc allocated (docs/record-kinds.md).
 */
#ifndef ROOFLINE_ALLOCATION_CALLS_H
#define ROOFLINE_ALLOCATION_CALLS_H

#include "cupti_api.h"
#include "options.h"

/* Enables the callbacks, with options->allocations. */
void allocation_calls_start(const struct cupti_api *cupti, CUpti_SubscriberHandle subscriber,
			    const struct options *options);

/* Call it on every callback of the driver's API.  Queues a row when the call has allocated or freed memory. */
void allocation_calls_on_call(CUpti_CallbackId id, const CUpti_CallbackData *data);

/* Queue a row per static variable of a module that was loaded into this context.  bytes: its size; their addresses are
 * not known. */
void allocation_calls_on_static(CUcontext context, uint64_t bytes, bool is_managed);

#endif
