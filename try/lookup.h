/*
 * lookup.h - what a program gets that looks up a function of the driver.
 */
#ifndef ROOFLINE_TRY_LOOKUP_H
#define ROOFLINE_TRY_LOOKUP_H

#include <stdbool.h>

/* The stub of a row of functions.h, by the name that the driver exports; 0: none. */
unsigned lookup_row(const char *exported);

/* The function in front of which a stub stands. */
const char *lookup_stub_name(unsigned stub);

/* It has the form of a name of the driver's functions. */
bool lookup_is_driver_name(const char *name);

/* Around a fork: the child of a thread that looks nothing up must not wait for one that does. */
void lookup_before_fork(void);
void lookup_after_fork(void);

#endif
