/*
 * last.h - "30s" or "200M": how much a flight recorder keeps.
 *
 * `rooflinectl record` checks with it what the collector reads with it.
 */
#ifndef ROOFLINE_LAST_H
#define ROOFLINE_LAST_H

#include "roofline/byte_size.h"
#include "roofline/duration.h"

#define LAST_NS_MIN INT64_C(1000000000)
#define LAST_BYTES_MIN (INT64_C(1) << 20)

/* One of the two is set, the other one 0.  Returns 0, or -1 when text is neither, or less than is worth keeping. */
static inline int last_parse(const char *text, int64_t *span_ns, int64_t *bytes)
{
	*span_ns = duration_ns(text, NULL);
	*bytes = 0;
	if (*span_ns > 0)
		return *span_ns < LAST_NS_MIN ? -1 : 0;
	*span_ns = 0;
	*bytes = byte_size(text);
	return *bytes < LAST_BYTES_MIN ? -1 : 0;
}

/* RANGE=50ms: the name of an NVTX range, which may hold equals signs, and how long it may take.  Returns the length of
 * the name and *limit_ns, or 0 when text is none. */
static inline size_t slower_parse(const char *text, int64_t *limit_ns)
{
	const char *equals = strrchr(text, '=');

	*limit_ns = equals ? duration_ns(equals + 1, NULL) : -1;
	return *limit_ns > 0 ? (size_t)(equals - text) : 0;
}

#endif
