/*
 * registered.h - memory of the host that the program has registered.
 *
 * The driver tells of single addresses whether it knows them.  Of a copy it may be the middle alone, and then the driver is to say
 * what it does with that.
 */
#ifndef ROOFLINE_TRY_REGISTERED_H
#define ROOFLINE_TRY_REGISTERED_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

/* The functions of handlers.h, with the arguments of cuda.h. */
CUresult try_host_register(void *address, size_t bytes, unsigned flags);
CUresult try_host_unregister(void *address);

/* Whether any of it is, or that is not known any more. */
bool registered_has_any(const void *address, size_t bytes);

/* In the child of a fork. */
void registered_forked(void);

#endif
