/*
 * pool.h - memory that the program freed is kept, and handed out again for the next allocation of exactly its size.
 *
 * What a program can tell stays.  Freeing waits until the GPU has done all that it was given, as cuMemFree does: so nothing
 * uses memory that is kept, whichever stream or thread gets it next.  A block is handed out in the context in which it was
 * allocated, for exactly the size with which it was, so that its address range is what was asked for.  Before whatever takes
 * memory from the driver, tells how much there is, or shares it with others, everything is given back (the second column of
 * functions.h); and before what is asked about an address in it.  While a stream is captured nothing is kept, as nothing may
 * wait.
 */
#ifndef ROOFLINE_TRY_POOL_H
#define ROOFLINE_TRY_POOL_H

#include <cuda.h>
#include <stdbool.h>

#include "functions.h"

bool pool_is_wanted(void);

/* Hands out memory that is kept.  False: there is none of that size, and the driver is to be asked. */
bool pool_take(CUdeviceptr *address, size_t bytes);

/* The driver allocated it. */
void pool_note(CUdeviceptr address, size_t bytes);

/* Keeps memory in place of freeing it, after the wait.  False: the driver is to free it; else what the program gets. */
bool pool_keep(CUdeviceptr address, CUresult *result);

/* The program frees it in another way.  False: it is freed already. */
bool pool_drop(CUdeviceptr address);

/* Gives memory back to the driver: all, or what lies around an address.  Whether there was any. */
bool pool_return_all(void);
bool pool_return_at(CUdeviceptr address);

/* Before a function of the driver that has this in functions.h. */
void pool_before(enum function_memory memory);

/* After deferred_begin_capture() and before the driver begins the capture. */
void pool_begin_capture(void);

/* In the child of a fork. */
void pool_forked(void);

#endif
