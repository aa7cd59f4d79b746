/*
 * idle_wait.h - waits until a context has nothing to do, but not for ever.
 *
 * A counted launch waits for all work before it.  Where that work waits for the program itself, as a
 * persistent kernel or a collective does, the program would hang; so a thread of ours waits first, and
 * when it takes too long the launch goes uncounted.
 */
#ifndef ROOFLINE_IDLE_WAIT_H
#define ROOFLINE_IDLE_WAIT_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

/* True when all work of the context was done before timeout_ns had passed.  Until a wait that was given
 * up has ended, all others fail at once.  Not thread-safe. */
bool idle_wait(CUcontext context, int64_t timeout_ns);

/* Whether a system thread id is that of the thread that waits: its calls are none of the program's. */
bool idle_wait_is_thread(uint32_t thread);

#endif
