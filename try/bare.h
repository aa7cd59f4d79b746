/*
 * bare.h - a program finds the driver's functions where it would find them without this library, and nowhere else.
 *
 * stubs.c exports their names for programs that are linked with libcuda.so.  Others, which ask whether there is CUDA by a weak
 * reference or by dlsym(RTLD_DEFAULT), would find it in every process.
 */
#ifndef ROOFLINE_TRY_BARE_H
#define ROOFLINE_TRY_BARE_H

#include <stdbool.h>

/* The address is in this library. */
bool bare_is_own(const void *address);

/* Return what dlsym(RTLD_DEFAULT) would find for a caller at that address.  NULL: nothing, and dlerror() says so. */
void *bare_find(const char *name, const void *caller);

/* The caller's object comes before this library where the dynamic linker looks, so that RTLD_NEXT finds ours. */
bool bare_is_in_front(const void *caller);

#endif
