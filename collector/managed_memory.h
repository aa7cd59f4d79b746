/*
 * managed_memory.h - page faults and migrations of managed memory (--managed).
 *
 * CUPTI records them only when it was asked after cuInit; the collector is loaded within it.  Before there is a context no
 * memory is managed.
 */
#ifndef ROOFLINE_MANAGED_MEMORY_H
#define ROOFLINE_MANAGED_MEMORY_H

#include "cupti_api.h"
#include "options.h"
#include "writer/trace_writer.h"

/* When the options ask for it, the next context begins the records. */
void managed_memory_start(const struct cupti_api *cupti, const struct options *options);

/* There is a context: enables the records, once. */
void managed_memory_on_context(void);

void managed_memory_decode(struct trace_rows *rows,
			   const CUpti_ActivityUnifiedMemoryCounter3 *counter);

#endif
