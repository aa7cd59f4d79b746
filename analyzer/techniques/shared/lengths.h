/*
 * lengths.h - techniques that change how long operations take.
 */
#ifndef ROOFLINE_LENGTHS_H
#define ROOFLINE_LENGTHS_H

#include "techniques/application.h"

/* Whether a launch of that shape is meant. */
typedef bool lengths_concerns(const struct profile_device *device,
			      const struct profile_signature *launch);

/* Launches of that kernel (kernel_names[]), of the shapes that concerns says or all where that is NULL, take this share
 * of their time; what has another length by a change already keeps that.  Returns how many they are. */
size_t lengths_scale_kernel(struct application *application, uint32_t kernel,
			    lengths_concerns *concerns, double share);

/* Launches of that kernel take as long as they did, though they count as changed: the low end of what may gain nothing, of
 * which nothing can be off.  What has another length by a change keeps that.  Returns how many they are. */
size_t lengths_keep_kernel(struct application *application, uint32_t kernel);

/* What a copy from or to the host takes of pinned memory, ns: its bytes at the rate of the ceilings, and what copies take
 * beside that, however small (docs/results/copy-sizes.txt).  INFINITY where the rate was not measured. */
double lengths_pinned_copy_ns(const struct ceilings *ceilings, const struct profile_copy *copy);

/* How much less than now a copy takes so, or its call where that waits for it: of pageable memory the call fills or empties
 * a buffer of the driver.  ns; 0: no less. */
double lengths_saved_by_pinning_ns(const struct profile *profile, const struct ceilings *ceilings,
				   const struct profile_op *op);

/* Copies of pageable memory, or of them only those in lanes, take the time that pinned memory would
 * by the ceilings; what has another length by a change already keeps that.  Returns how many copies that are. */
size_t lengths_pin_copies(struct application *application, bool only_lanes);

/* Changes how long operations take, and makes the part from the first to the last of them, in each thread, one that
 * changes.  change returns how many operations it changed.  Returns 0 or -ENOMEM. */
int lengths_change(struct application *application, size_t (*change)(struct application *));

#endif
