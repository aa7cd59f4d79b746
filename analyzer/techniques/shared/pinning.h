/*
 * pinning.h - what it costs to make the host memory of copies page-locked, once.
 *
 * No recording tells which copies share a buffer.  Of a few copies, and of those that happen once, each is taken to have
 * memory of its own; of more, which are a loop's, those of one direction and size have one together.
 */
#ifndef ROOFLINE_PINNING_H
#define ROOFLINE_PINNING_H

#include "techniques/application.h"

/* Fewer copies than that repeat nothing. */
#define PINNING_FEW_COPIES 10

struct pinning {
	uint64_t copy_count;   /* of pageable memory */
	uint64_t buffer_count; /* that they are assumed to have */
	double bytes;	       /* of the buffers */
	double saved_ns; /* by all copies, of many also by their calls (lengths_saved_by_pinning_ns) */
	double cost_ns; /* of pinning the buffers; 0: the ceilings lack it */
};

/* Of the copies of a device.  Returns 0 or -ENOMEM. */
int pinning_of(struct pinning *pinning, const struct profile *profile,
	       const struct ceilings *ceilings, size_t device);

/* Of those that happens_once says so of. */
int pinning_once_of(struct pinning *pinning, const struct profile *profile,
		    const struct ceilings *ceilings, size_t device,
		    bool (*happens_once)(const struct profile_op *op, const void *context),
		    const void *context);

#endif
