/*
 * progress.h - what has been recorded so far, for whoever watches: counted from the first time that somebody asks.
 *
 * Until then a record costs a look at one number.  Thread-safe.
 */
#ifndef ROOFLINE_PROGRESS_H
#define ROOFLINE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "roofline/control.h"

struct progress {
	uint64_t launches, kernels, copies, calls;
	uint64_t busy_ns
		[CONTROL_DEVICES]; /* at least: where records come out of order, what lies between is left out */
};

enum progress_kind { PROGRESS_KERNEL, PROGRESS_COPY, PROGRESS_GRAPH };

/* An operation of the GPU; graph: its executable graph's id, 0 outside of graphs. */
void progress_add_operation(enum progress_kind kind, uint32_t device, int64_t start_ns,
			    int64_t end_ns, uint32_t graph, uint32_t correlation);
void progress_add_call(void);

/* What there is since counting began, which is at the first call of this. */
struct progress progress_read(void);

#endif
