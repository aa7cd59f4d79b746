/*
 * local_memory.h - how much local memory the kernels that were launched take for each thread.
 *
 * CUPTI's kernel records have a member for it that stays 0 (CUPTI 13.0 on an H200: a kernel with 312 bytes of stack
 * frame, tests/gpu/pitfalls register_spills), so the driver is asked at the launch, once for each kernel.  Launches
 * are called back with counters only.
 */
#ifndef ROOFLINE_LOCAL_MEMORY_H
#define ROOFLINE_LOCAL_MEMORY_H

#include <stdint.h>

#include "counters/launch_call.h"

/* In the callback of a kernel's launch, on any thread. */
void local_memory_note(const struct launch_call *call);

/* Bytes for each thread of the kernel of that mangled name; 0 where none was noted.  On any thread. */
uint32_t local_memory_of(const char *name);

#endif
