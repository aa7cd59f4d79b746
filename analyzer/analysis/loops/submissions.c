#include "analysis/loops/submissions.h"

#include <errno.h>
#include <stdlib.h>

/* Whether all operations have calls, and stand in the order of these. */
static bool are_in_order(const struct profile *profile)
{
	uint32_t call = 0;

	for (size_t i = 0; i < profile->op_count; i++) {
		if (profile->ops[i].call == PROFILE_NONE || profile->ops[i].call < call)
			return false;
		call = profile->ops[i].call;
	}
	return true;
}

/* Of marks, by call, how many calls before each have one. */
static void count_lone(struct submissions *submissions, size_t count)
{
	uint32_t before = 0;

	for (size_t i = 0; i < count; i++) {
		uint8_t has_one = submissions->lone[i];

		if (i % SUBMISSIONS_BLOCK == 0)
			submissions->before_block[i / SUBMISSIONS_BLOCK] = before;
		submissions->lone[i] =
			(uint8_t)(before - submissions->before_block[i / SUBMISSIONS_BLOCK]);
		before += has_one;
	}
}

static bool mark_lone(uint8_t *marks, const struct profile *profile)
{
	for (size_t i = 0; i < profile->op_count; i++) {
		uint32_t call = profile->ops[i].call;

		if (call != PROFILE_NONE && marks[call]++)
			return false;
	}
	return true;
}

/* Where each call has one operation or none it is kept which of them have. */
static int keep_lone(struct submissions *submissions, const struct profile *profile)
{
	size_t count = profile->call_count + 1;

	submissions->lone = calloc(count, sizeof(*submissions->lone));
	submissions->before_block =
		malloc((count / SUBMISSIONS_BLOCK + 1) * sizeof(*submissions->before_block));
	if (!submissions->lone || !submissions->before_block)
		return -ENOMEM;
	if (mark_lone(submissions->lone, profile)) {
		count_lone(submissions, count);
		return 0;
	}
	free(submissions->lone);
	submissions->lone = NULL;
	return 0;
}

static int keep_in_order(struct submissions *submissions, const struct profile *profile)
{
	size_t op = 0;
	int rc = near_numbers_open(&submissions->firsts, profile->call_count + 1);

	for (size_t i = 0; rc == 0 && i <= profile->call_count; i++) {
		while (op < profile->op_count && profile->ops[op].call < i)
			op++;
		rc = near_numbers_set(&submissions->firsts, i, (uint32_t)op);
	}
	return rc;
}

/* first: zeros, by call and one more.  It counts, then becomes the end of each call's part, and by filling from the back
 * its start. */
static int sort_by_call(struct submissions *submissions, const struct profile *profile,
			uint32_t *first)
{
	int rc = 0;

	for (size_t i = 0; i < profile->op_count; i++)
		if (profile->ops[i].call != PROFILE_NONE)
			first[profile->ops[i].call]++;
	for (size_t i = 1; i <= profile->call_count; i++)
		first[i] += first[i - 1];
	submissions->ops =
		malloc(((size_t)first[profile->call_count] + 1) * sizeof(*submissions->ops));
	if (!submissions->ops)
		return -ENOMEM;
	for (size_t i = profile->op_count; i-- > 0;)
		if (profile->ops[i].call != PROFILE_NONE)
			submissions->ops[--first[profile->ops[i].call]] = (uint32_t)i;
	if (!submissions->lone)
		rc = near_numbers_open(&submissions->firsts, profile->call_count + 1);
	for (size_t i = 0; rc == 0 && !submissions->lone && i <= profile->call_count; i++)
		rc = near_numbers_set(&submissions->firsts, i, first[i]);
	return rc;
}

int submissions_find(struct submissions *submissions, const struct profile *profile)
{
	uint32_t *first;
	int rc;

	*submissions = (struct submissions){0};
	rc = keep_lone(submissions, profile);
	if (rc < 0)
		return rc;
	if (are_in_order(profile))
		return submissions->lone ? 0 : keep_in_order(submissions, profile);
	first = calloc(profile->call_count + 1, sizeof(*first));
	rc = first ? sort_by_call(submissions, profile, first) : -ENOMEM;
	free(first);
	return rc;
}

void submissions_free(struct submissions *submissions)
{
	free(submissions->lone);
	free(submissions->before_block);
	near_numbers_free(&submissions->firsts);
	free(submissions->ops);
	*submissions = (struct submissions){0};
}
