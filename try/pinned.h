/*
 * pinned.h - copies of pageable memory as copies of pinned memory.
 *
 * The program sees what it would have seen: the copy comes at its place in its stream, a copy to the host returns when the
 * memory is there, one to the GPU when the memory may be changed, and a synchronous one when it is done.  What the driver might refuse it
 * gets as it came.  Large memory that comes again is registered (registering.h), and what is not goes through pinned memory of the
 * library's own (staging.h).
 */
#ifndef ROOFLINE_TRY_PINNED_H
#define ROOFLINE_TRY_PINNED_H

#include <cuda.h>

#include "functions.h"

/* The functions of handlers.h that copy between host and GPU, with the arguments of cuda.h. */
CUresult try_copy_from_host(CUdeviceptr to, const void *from, size_t bytes);
CUresult try_copy_from_host_ptds(CUdeviceptr to, const void *from, size_t bytes);
CUresult try_copy_from_host_async(CUdeviceptr to, const void *from, size_t bytes, CUstream stream);
CUresult try_copy_from_host_async_ptsz(CUdeviceptr to, const void *from, size_t bytes,
				       CUstream stream);
CUresult try_copy_to_host(void *to, CUdeviceptr from, size_t bytes);
CUresult try_copy_to_host_ptds(void *to, CUdeviceptr from, size_t bytes);
CUresult try_copy_to_host_async(void *to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult try_copy_to_host_async_ptsz(void *to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult try_copy_any(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CUresult try_copy_any_ptds(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CUresult try_copy_any_async(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult try_copy_any_async_ptsz(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);

/* Before a function of the driver that has this in functions.h. */
void pinned_before(enum function_memory memory, enum function_host host);

/* After deferred_begin_capture() and before the driver begins the capture: no copy is under way any more, as far as that can be
 * waited for. */
void pinned_begin_capture(void);

/* In the child of a fork. */
void pinned_forked(void);

#endif
