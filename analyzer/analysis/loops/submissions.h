/*
 * submissions.h - which operations each API call submitted.
 *
 * profile_op.call leads from an operation to its call; this leads back, in time
 * that goes with calls and operations.
 */
#ifndef ROOFLINE_SUBMISSIONS_H
#define ROOFLINE_SUBMISSIONS_H

#include "base/near_numbers.h"
#include "trace/profile.h"

#define SUBMISSIONS_BLOCK 256

struct submissions {
	/* By call, and one more: where its operations begin in ops[]; submissions_first tells.  Where no call has several, as
	 * without graphs, it is how many calls before it have one, in a byte each, as there are no more in a block. */
	uint8_t *lone;
	uint32_t *before_block;
	struct near_numbers firsts; /* else; all 0 where there is the other */
	uint32_t *
		ops; /* profile->ops[] of all calls, of each by start; NULL: as they are in profile->ops[] */
};

/* Returns 0 or -ENOMEM; the caller frees with submitted_free, also after a failure. */
int submissions_find(struct submissions *submissions, const struct profile *profile);
void submissions_free(struct submissions *submissions);

/* Where the operations of a call begin: they end where those of the next call begin. */
static inline uint32_t submissions_first(const struct submissions *submissions, size_t call)
{
	return submissions->lone ? submissions->before_block[call / SUBMISSIONS_BLOCK] +
					   submissions->lone[call]
				 : near_numbers_get(&submissions->firsts, call);
}

static inline size_t submissions_count(const struct submissions *submissions, size_t call)
{
	return submissions_first(submissions, call + 1) - submissions_first(submissions, call);
}

static inline uint32_t submissions_op(const struct submissions *submissions, size_t index)
{
	return submissions->ops ? submissions->ops[index] : (uint32_t)index;
}

#endif
