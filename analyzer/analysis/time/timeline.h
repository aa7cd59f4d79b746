/*
 * timeline.h - when each device was busy, and with how many operations at once.
 *
 * Pure arithmetic on a profile; knows nothing of causes or output.
 */
#ifndef ROOFLINE_TIMELINE_H
#define ROOFLINE_TIMELINE_H

#include "base/spans.h"
#include "trace/profile.h"

#define TIMELINE_MAX_CONCURRENCY 16 /* the last bucket counts this many and more */

struct timeline_device {
	int64_t first_ns,
		last_ns; /* first start and last end of an operation; equal when there is none.  Of a part
			  * of a recording up to its ends where the device had work before and behind them */
	int64_t wall_ns;		       /* last_ns - first_ns */
	int64_t busy_ns;		       /* union of all operations */
	int64_t idle_ns;		       /* wall_ns - busy_ns */
	int64_t kernel_ns, copy_ns, memset_ns; /* unions by kind */
	int64_t kernel_total_ns;	       /* of each kernel, side by side or not, added up */
	int64_t kernel_shared_ns;	       /* time in which two and more kernels ran */
	int64_t copy_overlapped_ns;	       /* copy time during which a kernel ran */
	int64_t concurrency_ns[TIMELINE_MAX_CONCURRENCY + 1]; /* time with exactly i operations */
};

struct timeline {
	struct timeline_device *devices; /* as profile->devices[] */
	size_t device_count;
};

/* What of a device's time counts; of an operation that reaches beyond it what lies within.  False: nothing. */
bool timeline_span(const struct profile *profile, size_t device, int64_t *first_ns,
		   int64_t *last_ns);

int timeline_build(struct timeline **out, const struct profile *profile, struct err *err);

/* For how long of the sealed set exactly i operations ran, as concurrency_ns[].  Returns 0 or -ENOMEM. */
int timeline_concurrency(int64_t concurrency_ns[TIMELINE_MAX_CONCURRENCY + 1],
			 const struct profile *profile, size_t device, const struct spans *within);

void timeline_free(struct timeline *timeline);

#endif
