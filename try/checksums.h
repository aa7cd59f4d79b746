/*
 * checksums.h - what the program's memory of the GPU contained: a hash of each allocation, when it was freed or at the end.
 *
 * rooflinectl try compares the lists of runs with and without a strategy (--check-memory).  New memory is filled with zeros
 * then, so that what the program never writes is the same in all of them.
 */
#ifndef ROOFLINE_TRY_CHECKSUMS_H
#define ROOFLINE_TRY_CHECKSUMS_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

#include "functions.h"

/* The file to write, without the process id; NULL: nothing is hashed. */
void checksums_open(const char *path);

/* The program got this memory from cuMemAlloc. */
void checksums_note(CUdeviceptr address, size_t bytes);

/* It is about to be freed; what the GPU was given is waited for, as freeing does. */
void checksums_before_free(CUdeviceptr address);

/* It is about to be freed in the order of a stream: what it contains then is not known. */
void checksums_before_free_in_stream(CUdeviceptr address);

/* Before a function of the driver that has this in functions.h. */
void checksums_before(enum function_memory memory);
bool checksums_are_wanted(void);

/* At the end of the process: what is left, and the list is written. */
void checksums_end(void);

/* In the child of a fork. */
void checksums_forked(void);

#endif
