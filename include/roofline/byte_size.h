/*
 * byte_size.h - "64K", "500M", "1.5G": a size as people write it.
 *
 * `rooflinectl record` checks with it what the collector reads with it.
 */
#ifndef ROOFLINE_BYTE_SIZE_H
#define ROOFLINE_BYTE_SIZE_H

#include <stdint.h>
#include <string.h>

#include "roofline/duration.h"

#define SIZE_LIMIT_BYTES_MIN \
	65536 /* of --max-size: room for the tables' headers and a chunk of rows */

/* Bytes of a number, with K, M, G or T behind it for powers of 1,024, and B or iB behind that if one likes; -1 when
 * text is none, or beyond 1e18. */
static inline int64_t byte_size(const char *text)
{
	static const char units[] = "KMGT";
	const char *rest, *unit;
	double value = duration_number(text, &rest);

	if (rest == text)
		return -1;
	unit = *rest ? strchr(units, *rest) : NULL;
	if (unit) {
		value *= (double)(INT64_C(1024) << (10 * (unit - units)));
		rest++;
	}
	if (unit && !strcmp(rest, "iB"))
		rest += 2;
	else if (!strcmp(rest, "B"))
		rest++;
	return *rest || !(value <= 1e18) ? -1 : (int64_t)value;
}

#endif
