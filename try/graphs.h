/*
 * graphs.h - launches that come again become one CUDA graph: of one stream, or of several that fork and join (forks.h).
 */
#ifndef ROOFLINE_TRY_GRAPHS_H
#define ROOFLINE_TRY_GRAPHS_H

#include "forks.h"

/* Gives these to the driver, in order: as a graph where the sequence of kernels and events comes again, else one by one.
 * What the driver refused. */
CUresult graphs_run(const struct item *items, const struct forks *forks, CUcontext context);

/* The same, one by one. */
CUresult graphs_run_each(const struct item *items, unsigned count);

/* An event is going to be destroyed.  can_drop: graphs that record it may be destroyed now; else they are not launched any
 * more, and it must stay.  Whether it must. */
bool graphs_lose(CUevent event, bool can_drop);

/* Memory is going to be freed, or page-locked no more: what graphs set or copy may be gone.  By any thread, without a lock. */
void graphs_note_free(void);

/* Kernels or contexts may be gone. */
void graphs_forget(void);

#endif
