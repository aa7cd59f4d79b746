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

static int keep_in_order(struct submissions *submissions, const struct profile *profile)
{
	size_t op = 0;
	int rc = 0;

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
	for (size_t i = 0; rc == 0 && i <= profile->call_count; i++)
		rc = near_numbers_set(&submissions->firsts, i, first[i]);
	return rc;
}

int submissions_find(struct submissions *submissions, const struct profile *profile)
{
	uint32_t *first;
	int rc;

	*submissions = (struct submissions){0};
	rc = near_numbers_open(&submissions->firsts, profile->call_count + 1);
	if (rc < 0 || are_in_order(profile))
		return rc < 0 ? rc : keep_in_order(submissions, profile);
	first = calloc(profile->call_count + 1, sizeof(*first));
	rc = first ? sort_by_call(submissions, profile, first) : -ENOMEM;
	free(first);
	return rc;
}

void submissions_free(struct submissions *submissions)
{
	near_numbers_free(&submissions->firsts);
	free(submissions->ops);
	*submissions = (struct submissions){0};
}
