/*
 * why_empty.h - why a section has nothing to tell, and what to run to fill it, for reasons that several sections share.
 *
 * A section whose reason is always the same says it as `empty`; one that has several has a function of this kind as
 * `why_empty`.  Both are a sentence without its capital and its full stop.
 */
#ifndef ROOFLINE_WHY_EMPTY_H
#define ROOFLINE_WHY_EMPTY_H

#include "output/limit_text.h"

/* Counters, of which option has the set: "--counters=atomics". */
struct sentence why_no_counters(const struct report *report, const char *option);

struct sentence why_not_sampled(const struct report *report);

/* Work of the device's own, which samples show. */
struct sentence why_no_device_work(const struct report *report);

struct sentence why_no_allocations(const struct report *report);

/* API calls, and what is told with them alone. */
struct sentence why_no_calls(const struct report *report);

/* The value of the first process that has that property; NULL where none has. */
const char *why_property(const struct report *report, const char *key);

/* Formats a whole sentence. */
__attribute__((format(printf, 1, 2))) struct sentence why(const char *format, ...);

#endif
