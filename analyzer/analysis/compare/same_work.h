/*
 * same_work.h - whether two recordings are of the same work, done in another way.
 *
 * Pure.  Only then does a speedup mean anything, so what belongs to the work and what
 * to the way is decided here, once.  The same work is on the same GPU model, with the same
 * numbers in arguments that both commands have, and shows two of three signs:
 * the same program, a kernel name in common (fusing kernels takes names away),
 * and alike copies between host and device.  A program that one of them does not name counts as the same: a recording
 * is the same work as itself.
 */
#ifndef ROOFLINE_SAME_WORK_H
#define ROOFLINE_SAME_WORK_H

#include "base/sentences.h"
#include "trace/profile.h"

/*
 * Adds to differences why the work is not the same, nothing when it is, and to
 * notes what differs and may belong to the change.  Returns 0 or -ENOMEM.
 */
int same_work_judge(const struct profile *before, const struct profile *after,
		    struct sentences *differences, struct sentences *notes);

#endif
