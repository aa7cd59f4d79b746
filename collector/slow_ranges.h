/*
 * slow_ranges.h - --when-slower: NVTX ranges of a name that took longer than they may.
 *
 * Markers are seen when they are decoded, a flush period after they happened.  Thread-safe.
 */
#ifndef ROOFLINE_SLOW_RANGES_H
#define ROOFLINE_SLOW_RANGES_H

#include <stdbool.h>
#include <stdint.h>

/* text: RANGE=50ms, as slower_parse() takes it; borrowed. */
void slow_ranges_init(const char *text);

void slow_ranges_on_start(uint32_t id, const char *name, int64_t time_ns);
void slow_ranges_on_end(uint32_t id, int64_t time_ns);

/* The first one that took too long since this was last true; how many others have is in other_count. */
struct slow_range {
	int64_t start_ns, end_ns, limit_ns;
	uint64_t other_count;
	const char *name;
	int name_length;
};
bool slow_ranges_take(struct slow_range *range);

#endif
