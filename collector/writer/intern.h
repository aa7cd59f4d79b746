/*
 * intern.h - the same string or launch signature gets the same small number.
 *
 * Not thread-safe: trace_writer.c calls it under its lock.  Numbers are never
 * given twice.  Memory is bounded: past INTERN_LIMIT entries or INTERN_BYTES of
 * text the tables start anew, and what comes again is given a second number,
 * which readers allow.
 */
#ifndef ROOFLINE_INTERN_H
#define ROOFLINE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roofline/trace_schema.h"

#define INTERN_LIMIT 65536
#define INTERN_BYTES ((size_t)32 << 20)

/* Number of a text, from 1; *is_new tells that it must be written. */
uint32_t intern_text(const char *text, bool *is_new);

/* Number of a signature (row->id must be 0), from 1, or 0 for a dropped one. */
uint32_t intern_signature(const struct trace_signatures_row *row, bool *is_new);

/* From now on this signature, new a moment ago, has the number 0.  Returns 0. */
uint32_t intern_signature_drop(const struct trace_signatures_row *row);

#endif
