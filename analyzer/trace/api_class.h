/*
 * api_class.h - what a CUDA call is for, from its name.
 *
 * To teach it another call: one row in the table of api_class.c.
 */
#ifndef ROOFLINE_API_CLASS_H
#define ROOFLINE_API_CLASS_H

#include <stddef.h>

#include "trace/profile.h"

/* Writes name without leading underscores and without the suffixes of versions and per-thread
 * streams: __cudaLaunchKernel_v13000 -> cudaLaunchKernel, cuMemcpyHtoD_v2 -> cuMemcpyHtoD. */
void api_plain_name(char *buffer, size_t size, const char *name);

/* The class of a plain name; CALL_OTHER for what is not a call of CUDA. */
enum profile_call_class api_class(const char *plain_name);

#endif
