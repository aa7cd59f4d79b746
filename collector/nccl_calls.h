/*
 * nccl_calls.h - what NCCL was asked for: its communicators, and how many bytes each collective moves.
 *
 * NCCL is a program of NVTX: each of its functions pushes a range in the domain NCCL, with a payload that has the
 * arguments (nvtxPayloadData_t).  CUPTI's records of ranges have no payloads, and what its callbacks of NVTX point to is that
 * of an earlier call in NCCL 2.28: so the function that pushes ranges is ours, and goes on to CUPTI's.
 * Payloads are of NCCL 2.18 and newer; since 2.25 they tell the communicator, and that of a new one comes when its range
 * is popped, by nvtxRangePopPayload of NVTX's extension.  CUPTI 13.0 has nothing for that function, and earlier ones for
 * no extension at all: such a range would last until the end, so it is popped here.
 */
#ifndef ROOFLINE_NCCL_CALLS_H
#define ROOFLINE_NCCL_CALLS_H

#include <stdbool.h>

#include "cupti_api.h"
#include "options.h"

/* Before NVTX gets CUPTI's functions: NCCL makes its domain once. */
void nccl_calls_start(const struct cupti_api *cupti, CUpti_SubscriberHandle subscriber,
		      const struct options *options);

/* On CUPTI's callback of a call of NVTX. */
void nccl_calls_on_nvtx(CUpti_CallbackId id, const CUpti_NvtxData *data);

/* What NVTX gives to a tool of its extensions, once CUPTI has put its functions there, if it has any: ours goes before the
 * one that pops a range with a payload.  False when that is of another extension. */
bool nccl_calls_put(void *extension);

/* The functions of a module that uses NVTX, which CUPTI has just put there: ours goes before the one that pushes a range. */
void nccl_calls_wrap(void *table);

#endif
