/*
 * submissions.h - which operations each API call submitted.
 *
 * profile_op.call leads from an operation to its call; this leads back, in time
 * that goes with calls and operations.
 */
#ifndef ROOFLINE_SUBMISSIONS_H
#define ROOFLINE_SUBMISSIONS_H

#include "trace/profile.h"

struct submissions {
	uint32_t *first; /* by call, and one more: where its operations begin in ops[] */
	uint32_t *
		ops; /* profile->ops[] of all calls, of each by start; NULL: as they are in profile->ops[] */
};

/* Returns 0 or -ENOMEM; the caller frees with submitted_free, also after a failure. */
int submissions_find(struct submissions *submissions, const struct profile *profile);
void submissions_free(struct submissions *submissions);

static inline size_t submissions_count(const struct submissions *submissions, size_t call)
{
	return submissions->first[call + 1] - submissions->first[call];
}

static inline uint32_t submissions_op(const struct submissions *submissions, size_t index)
{
	return submissions->ops ? submissions->ops[index] : (uint32_t)index;
}

#endif
