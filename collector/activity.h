/*
 * activity.h - CUPTI's records become trace rows: the one switch on their kind.
 */
#ifndef ROOFLINE_ACTIVITY_H
#define ROOFLINE_ACTIVITY_H

#include "cupti_api.h"
#include "options.h"

/* Enables the record kinds that the options ask for, in the order that CUPTI wants.  Kinds that are
 * refused become losses, and one warning names them all; the others are recorded. */
void activity_enable(const struct cupti_api *cupti, const struct options *options);

/* Enables NVTX ranges and names only; they may come before CUDA is initialized. */
void activity_enable_nvtx(const struct cupti_api *cupti);

/* Enables the records of copies between GPUs once contexts are on several: the first is on none of them.  With CUPTI 13.0 and
 * 13.1 that kind, enabled along with that of copies, ended a program of JAX whose graphs have loops in them (docs/record-kinds.md). */
void activity_on_context(const struct cupti_api *cupti, CUcontext context);

/* Disables all records of what happens, once the recording has ended. */
void activity_disable(const struct cupti_api *cupti, const struct options *options);

/* Decodes a buffer of valid_bytes into trace rows.  Safe on several threads at once. */
void activity_decode(const struct cupti_api *cupti, uint8_t *buffer, size_t valid_bytes);

#endif
