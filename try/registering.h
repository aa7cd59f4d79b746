/*
 * registering.h - memory of the program that is copied again and again is registered, so that the GPU copies it itself.
 *
 * The program sees what it would have seen: each copy of such memory is waited for before the call returns, as one of pageable memory
 * is; what may tell that it is registered is preceded by releasing it (functions.h); and what the program unmaps, moves or empties is
 * not used any more (watch.h), and released before the driver is called next.
 */
#ifndef ROOFLINE_TRY_REGISTERING_H
#define ROOFLINE_TRY_REGISTERING_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "functions.h"
#include "staging.h"

/* False: a copy of so many bytes is none for registering_copy(). */
bool registering_may_have(size_t bytes);

/* Makes the copy where its memory is registered, or is now.  False: it was not, and is to be made as if nothing was registered. */
bool registering_copy(const struct copy *copy);

/* Between these nothing of the memory is registered by us: the driver is to see it as the program left it.  The number is for
 * registering_end(). */
int registering_begin(const void *host, size_t bytes);
void registering_end(int number);

/* A copy of pageable memory is to be made.  True: nothing else is in its stream, and what it takes is to be told. */
bool registering_compares(const struct copy *copy);
void registering_note(const struct copy *copy, uint64_t took_ns);

/* What is registered and holds this address is released. */
void registering_release_at(CUdeviceptr address);

/* Before a function of the driver that has this in functions.h. */
void registering_before(enum function_host host);

/* Before kernels are launched, which may read memory of the host: what was unmapped is released. */
void registering_before_launch(void);

/* Around a fork, and in the child. */
void registering_before_fork(void);
void registering_after_fork(void);
void registering_forked(void);

#endif
