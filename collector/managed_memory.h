/*
 * managed_memory.h - page faults and migrations of managed memory (--managed).
 *
 * CUPTI takes its configuration when CUDA is initialized, which it is not yet while it loads the collector.
 */
#ifndef ROOFLINE_MANAGED_MEMORY_H
#define ROOFLINE_MANAGED_MEMORY_H

#include "cupti_api.h"
#include "options.h"
#include "writer/trace_writer.h"

/* When the options ask for it: CUPTI is to call managed_memory_on_ready. */
void managed_memory_start(const struct cupti_api *cupti, CUpti_SubscriberHandle subscriber,
			  const struct options *options);

/* CUDA is initialized, or has a context: enables the records once. */
void managed_memory_on_ready(void);

void managed_memory_decode(struct trace_rows *rows,
			   const CUpti_ActivityUnifiedMemoryCounter3 *counter);

#endif
