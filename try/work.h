/*
 * work.h - the kinds of work that can be put off: how it is given to the driver by itself, and as a node of a graph.
 */
#ifndef ROOFLINE_TRY_WORK_H
#define ROOFLINE_TRY_WORK_H

#include "queue.h"

struct work {
	CUresult (*run)(const struct item *item);
	/* After so many nodes. */
	CUresult (*add)(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
			const struct item *item, CUcontext context);
	CUresult (*set)(CUgraphExec exec, CUgraphNode node, const struct item *item,
			CUcontext context);
};

extern const struct work work_kernel; /* work_kernel.c */
extern const struct work work_record,
	work_wait; /* work_event.c: in a graph they are no nodes like these (forks.h) */

/* What is put off in place of kernels has one parameter, one of these. */
struct memory_set {
	CUdeviceptr address;
	size_t count; /* of elements */
	unsigned value, element_bytes;
};

struct memory_copy {
	CUdeviceptr to, from;
	size_t bytes;
};

/* work_memory.c; sets by 1, 2 and 4 bytes an element differ, as graphs may not change that. */
struct kernel *work_set(unsigned element_bytes);
struct kernel *work_copy(void);
struct kernel *work_copy_from_host(void);
struct kernel *work_copy_to_host(void);

#endif
