/*
 * launched.h - the operations that consecutive calls launched: how many, their time, their span.
 *
 * In the order of their calls those of the calls [a, b) lie side by side (submissions.h);
 * sums come from prefix sums, first start and last end from a tree, both over
 * blocks.  About 1 byte per operation and 2 per call, where calls and operations have one order.
 */
#ifndef ROOFLINE_LAUNCHED_H
#define ROOFLINE_LAUNCHED_H

#include "trace/profile.h"

struct launched_sum {
	uint64_t op_count;
	int64_t gpu_ns;		   /* sum of durations */
	int64_t first_ns, last_ns; /* first start and last end; INT64_MAX and INT64_MIN when none */
};

struct launched;

/* Returns 0 or -ENOMEM. */
int launched_open(struct launched **out, const struct profile *profile);

/* What calls[first, end) launched. */
struct launched_sum launched_by(const struct launched *launched, size_t first, size_t end);

/* What calls of a thread launched that began in [start_ns, end_ns). */
struct launched_sum launched_during(const struct launched *launched, uint32_t thread,
				    int64_t start_ns, int64_t end_ns);

/* The same within a range: of its thread, or where it was started and ended, which two threads may do, of its process. */
struct launched_sum launched_in_range(const struct launched *launched,
				      const struct profile_range *range);

void launched_close(struct launched *launched);

#endif
