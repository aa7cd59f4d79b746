/*
 * spans.h - a set of moments as sorted, disjoint spans, and how much of any span it covers.
 *
 * Pure arithmetic; knows nothing of profiles.  Fill it with spans_add, close it
 * with spans_seal, then ask.  A zeroed struct is an empty, sealed set.
 */
#ifndef ROOFLINE_SPANS_H
#define ROOFLINE_SPANS_H

#include <stddef.h>
#include <stdint.h>

struct span {
	int64_t start_ns, end_ns;
	int64_t before_ns; /* covered by all earlier spans together; set by spans_seal */
};

struct spans {
	struct span *items; /* owned */
	size_t count, capacity;
};

/* Adds [start_ns, end_ns); an empty or reversed one is ignored.  Returns 0 or -ENOMEM. */
int spans_add(struct spans *spans, int64_t start_ns, int64_t end_ns);

/* Sorts, merges what touches or overlaps, and sums.  n log n. */
void spans_seal(struct spans *spans);

/* Takes the moments of other out of spans; both sealed.  Returns 0 or -ENOMEM. */
int spans_subtract(struct spans *spans, const struct spans *other);

/* Known to spans_covered only: neither of the two is empty. */
int64_t spans_covered_of_some(const struct spans *spans, int64_t start_ns, int64_t end_ns);

/* How much of [start_ns, end_ns) the sealed set covers.  log n; most sets that are asked are empty. */
static inline int64_t spans_covered(const struct spans *spans, int64_t start_ns, int64_t end_ns)
{
	return spans->count && end_ns > start_ns ? spans_covered_of_some(spans, start_ns, end_ns)
						 : 0;
}

/* The same for spans that come by start_ns: *next is where to look on, 0 at first. */
int64_t spans_covered_next(const struct spans *spans, size_t *next, int64_t start_ns,
			   int64_t end_ns);

void spans_free(struct spans *spans);

#endif
