/*
 * stubs.h - what stands in front of a driver function: a few instructions that go on to it with all registers as they
 * were, after flushing where something was put off.
 */
#ifndef ROOFLINE_TRY_STUBS_H
#define ROOFLINE_TRY_STUBS_H

#include "functions.h"

/* One for each row of functions.h, then those that are given out for functions that a program looks up. */
#define STUBS_LOOKED_UP 4096
#define STUBS_LOOKED_UP_TEXT "4096"

#define STUBS_ONE(name, kind, memory, wait, host) +1
/* Number 0 is none. */
enum { STUBS_ROWS = 1 TRY_FUNCTIONS(STUBS_ONE), STUBS_COUNT = STUBS_ROWS + STUBS_LOOKED_UP };

/* By stub: where it goes on, and whether try_before() is called also where nothing was put off. */
extern void *try_targets[STUBS_COUNT];
extern unsigned char try_always[STUBS_COUNT];

/* Whether anything was put off. */
extern int try_pending;

/* The stub of that number, of those that are looked up. */
void *stubs_address(unsigned stub);

/* A stub calls these: what is to be done before the function, and where the function is. */
void *try_before(unsigned stub);
void *try_resolve(unsigned stub);

/* What a stub of functions.h goes on to before its function was found: it finds it. */
void try_unresolved(void);

/* dlsym calls this: what to answer instead of the C library, or NULL; try_nothing: there is no such function, and dlerror() says
 * so. */
void *try_dlsym(void *library, const char *name, const void *caller);
#define try_nothing ((void *)1)

#endif
