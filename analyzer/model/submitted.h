/*
 * submitted.h - which operations each API call submitted.
 *
 * profile_op.call leads from an operation to its call; this leads back, in time
 * that goes with calls and operations.
 */
#ifndef ROOFLINE_SUBMITTED_H
#define ROOFLINE_SUBMITTED_H

#include "trace/profile.h"

struct submitted {
	uint32_t *first; /* by call, and one more: where its operations begin in ops[] */
	uint32_t *ops;	 /* profile->ops[] of all calls, of each by start */
};

/* Returns 0 or -ENOMEM; the caller frees with submitted_free, also after a failure. */
int submitted_find(struct submitted *submitted, const struct profile *profile);
void submitted_free(struct submitted *submitted);

static inline size_t submitted_count(const struct submitted *submitted, size_t call)
{
	return submitted->first[call + 1] - submitted->first[call];
}

#endif
