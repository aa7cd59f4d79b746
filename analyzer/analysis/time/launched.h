/*
 * launched.h - the operations that consecutive calls launched: how many, their time, their span.
 *
 * Operations are put into the order of their calls, so those of the calls
 * [a, b) lie side by side; sums come from prefix sums, first start and last end
 * from a tree over blocks.  About 17 bytes per operation and 4 per call.
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

void launched_close(struct launched *launched);

#endif
