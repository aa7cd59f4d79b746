/*
 * try_memory.h - whether memory of the GPU contained the same, bare and with a strategy.
 *
 * The library writes a line for each allocation (try/checksums.h).  These are compared as what a program prints is: where two
 * bare runs differ already the strategy is not blamed.
 */
#ifndef ROOFLINE_TRY_MEMORY_H
#define ROOFLINE_TRY_MEMORY_H

#include "cmd/try_measure.h"

/* Adds the channel for it, as the last one.  False: out of memory. */
bool try_memory_add(struct trial *trial);

/* Runs the program twice bare and once with the strategy, none of them timed.  Fails with -EINTR, -ENOMEM and -EIO. */
int try_memory_check(struct try_bench *bench, struct err *err);

#endif
