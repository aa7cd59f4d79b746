/*
 * queue.h - a launch, a memset or a copy that was put off, with copies of its parameters.
 */
#ifndef ROOFLINE_TRY_QUEUE_H
#define ROOFLINE_TRY_QUEUE_H

#include "kernels.h"

/* So many at most become one graph; a longer one is no faster by much, and the GPU waits while it is collected. */
#define QUEUE_MAX 64
#define QUEUE_BYTES (256 * 1024)

struct item {
	struct kernel *kernel; /* or what stands for a memset or a copy (work.h) */
	CUstream stream;
	struct shape shape;
	const unsigned char
		*parameters; /* kernel->parameter_bytes of them, as the kernel sees them */
};
#endif
