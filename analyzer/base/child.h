/*
 * child.h - code that may crash or hang, run where that does no harm.
 *
 * A forked child does the work and writes into memory that it shares with us,
 * so what it found before a crash is kept.  Knows nothing of what the work is.
 */
#ifndef ROOFLINE_CHILD_H
#define ROOFLINE_CHILD_H

#include <stddef.h>

/* Fills in result, which is zeroed; context is the caller's.  It runs with stdout and stderr closed
 * to /dev/null and must not rely on threads of the parent. */
typedef void (*child_work)(void *result, const void *context);

/* Runs work in a child and copies its result, size bytes, into result, also when it did not finish.
 * Returns 0, -ETIMEDOUT (the child was killed), -ECANCELED (it died half way), or another negative
 * errno when no child could be made (result is then untouched). */
int child_call(child_work work, const void *context, void *result, size_t size, int timeout_ms);

#endif
