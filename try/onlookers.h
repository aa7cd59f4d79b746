/*
 * onlookers.h - who may see the GPU's memory without the driver: other devices, and libraries that call another driver.
 *
 * A wait that is left out is made before any function of the driver that could tell.  These need none: a network adapter, for
 * one, reads memory of the GPU once it was registered for that.
 *
 * To add a row: a library, a function or a device of the lists in onlookers.c.
 */
#ifndef ROOFLINE_TRY_ONLOOKERS_H
#define ROOFLINE_TRY_ONLOOKERS_H

#include "roofline/try.h"

/* Before libraries are loaded in a namespace: stubs.c. */
void try_before_dlmopen(long namespace);

/* Why waits must not be left out; TRY_REASON_COUNT: nothing was found.  Fast where nothing was loaded since. */
enum try_reason onlookers_find(void);

#endif
