/* ranges.h - what the driver says of an address: memory of the GPU, or memory of the host that it does not know. */
#ifndef ROOFLINE_TRY_RANGES_H
#define ROOFLINE_TRY_RANGES_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

/* Whether all of it lies in one allocation of the current context, which is neither managed nor the host's. */
bool ranges_is_on_gpu(CUdeviceptr address, size_t bytes);

/* Whether memory there belongs to a context: only such can lie on the GPU or be page-locked as these say, and stream-ordered
 * memory does not. */
bool ranges_has_context(CUdeviceptr address);

/* Whether the driver knows neither its first nor its last byte: it is neither pinned nor managed nor of the GPU. */
bool ranges_is_pageable(const void *address, size_t bytes);

/* Whether all of it is page-locked memory of the current context: what an asynchronous copy may read or write later. */
bool ranges_is_pinned(const void *address, size_t bytes);

#endif
