/*
 * kernels.h - what is known of each kernel that was launched: its parameters, and the shapes that the driver accepted.
 */
#ifndef ROOFLINE_TRY_KERNELS_H
#define ROOFLINE_TRY_KERNELS_H

#include <cuda.h>
#include <stdbool.h>

#include "roofline/try.h"

struct shape {
	unsigned grid[3], block[3], shared_bytes;
};

struct parameter {
	size_t offset, bytes;
};

#define KERNEL_SHAPES 8

struct work;

struct kernel {
	const struct work *work;
	CUfunction function; /* as it is launched: a CUfunction, or a CUkernel */
	CUevent event;	     /* of what stands for recording it, or waiting for it; else NULL */
	CUcontext context;
	bool is_handle_of_kernel;
	enum try_reason refused; /* TRY_REASON_COUNT: it may be put off */
	unsigned parameter_count;
	size_t parameter_bytes;
	struct parameter *parameters;
	struct shape accepted[KERNEL_SHAPES]; /* but for their grids */
	unsigned accepted_count;
};

/* What is known of it, asked at the first call; NULL without memory. */
struct kernel *kernels_find(CUfunction function, CUcontext context);

/* Whether the driver took a block and shared memory like these. */
bool kernel_accepts(const struct kernel *kernel, const struct shape *shape);
void kernel_accept(struct kernel *kernel, const struct shape *shape);

/* Functions and what they accept may have changed. */
void kernels_forget(void);

#endif
