/*
 * graphs.h - launches of one stream that come again become one CUDA graph.
 */
#ifndef ROOFLINE_TRY_GRAPHS_H
#define ROOFLINE_TRY_GRAPHS_H

#include "queue.h"

/* Gives launches of one stream to the driver, in order: as a graph where the sequence of kernels comes again, else one by one.
 * What the driver refused. */
CUresult graphs_run(const struct item *items, unsigned count, CUcontext context);

/* Kernels or contexts may be gone. */
void graphs_forget(void);

#endif
