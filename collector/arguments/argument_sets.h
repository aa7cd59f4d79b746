/*
 * argument_sets.h - the same set of addresses gets the same number, without a lock.
 *
 * Numbers are never given twice.  Memory is bounded: when there is no room, the sets start anew, and one that comes
 * again is given a second number, which readers allow.  Knows hashes only.
 */
#ifndef ROOFLINE_ARGUMENT_SETS_H
#define ROOFLINE_ARGUMENT_SETS_H

#include <stdbool.h>
#include <stdint.h>

/* Number of a set, from 1; *is_new tells that this thread has to write it.  0: all numbers are given. */
uint32_t argument_sets_number(uint64_t hash, bool *is_new);

#endif
