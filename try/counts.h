/*
 * counts.h - what was reached, and why not more, for rooflinectl try.
 */
#ifndef ROOFLINE_TRY_COUNTS_H
#define ROOFLINE_TRY_COUNTS_H

#include "roofline/try.h"

void counts_add(enum try_count count, unsigned long more);
void counts_set(enum try_count count, unsigned long value);
void counts_add_passed(enum try_reason reason);
void counts_add_flush(unsigned stub);

/* The file to write, without the process id; NULL: none. */
void counts_open(const char *path);

/* Writes what is there now in place of what was written before: at the end, and now and then for processes that are killed. */
void counts_write(void);

/* In the child of a fork: it has reached nothing yet. */
void counts_reset(void);

#endif
