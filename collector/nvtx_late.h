/*
 * nvtx_late.h - modules that began to use NVTX while they could not be handed to CUPTI yet.
 *
 * NVTX gives us a table of each module that uses it, and CUPTI fills it in.  While another thread
 * attaches to CUPTI, nobody may wait for it: that thread may itself be waiting for what this one holds, such
 * as the dynamic linker's lock.  So a module leaves its table here, and who has attached takes it.
 * Ranges of the module are missing until then.  Takes no locks.
 */
#ifndef ROOFLINE_NVTX_LATE_H
#define ROOFLINE_NVTX_LATE_H

#include <stdbool.h>

enum nvtx_entry { NVTX_FIRST_VERSION, NVTX_SECOND_VERSION, NVTX_EXTENSIONS };

/* False when memory is out.  The module stays loaded from now on: the table is its own. */
bool nvtx_late_add(enum nvtx_entry entry, void *table);

/* Takes all that were added, each once, whichever threads call this at a time. */
void nvtx_late_take(void (*initialize)(enum nvtx_entry entry, void *table));

#endif
