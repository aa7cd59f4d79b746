/*
 * queue.h - a launch, a memset or a copy that was put off, with copies of its parameters; or an event that is recorded in a
 * stream, or for which a stream waits.
 */
#ifndef ROOFLINE_TRY_QUEUE_H
#define ROOFLINE_TRY_QUEUE_H

#include "kernels.h"

/* So many kernels, memsets and copies at most become one graph; a longer one is no faster by much, and the GPU waits while it is
 * collected.  With events between them: */
#define QUEUE_NODES 64
#define QUEUE_ITEMS 192
#define QUEUE_BYTES (256 * 1024)

struct item {
	struct kernel
		*kernel; /* or what stands for a memset, a copy (work.h) or an event (events.h) */
	CUstream stream;
	struct shape shape;
	const unsigned char
		*parameters; /* kernel->parameter_bytes of them, as the kernel sees them */
};
#endif
