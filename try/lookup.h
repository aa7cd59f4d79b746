/*
 * lookup.h - what a program gets that looks up a function of the driver.
 */
#ifndef ROOFLINE_TRY_LOOKUP_H
#define ROOFLINE_TRY_LOOKUP_H

/* The stub of a row of functions.h, by the name that the driver exports; 0: none. */
unsigned lookup_row(const char *exported);

/* The function in front of which a stub stands. */
const char *lookup_stub_name(unsigned stub);

#endif
