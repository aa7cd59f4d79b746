#include "analysis/loops/submissions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static int fill_ops(struct submissions *submissions, const struct profile *profile,
		    size_t linked_count)
{
	submissions->ops = malloc((linked_count + 1) * sizeof(*submissions->ops));
	if (!submissions->ops)
		return -ENOMEM;
	for (size_t i = profile->op_count; i-- > 0;)
		if (profile->ops[i].call != PROFILE_NONE)
			submissions->ops[--submissions->first[profile->ops[i].call]] = (uint32_t)i;
	return 0;
}

/* As filling would have left it, which begins each call's part where that of the one before ends. */
static void move_to_starts(uint32_t *first, size_t call_count)
{
	memmove(first + 1, first, call_count * sizeof(*first));
	first[0] = 0;
}

/* first[] counts, then becomes the end of each call's part, and by filling from the back its start. */
int submissions_find(struct submissions *submissions, const struct profile *profile)
{
	size_t linked_count = 0;

	*submissions = (struct submissions){
		.first = calloc(profile->call_count + 1, sizeof(*submissions->first))};
	if (!submissions->first)
		return -ENOMEM;
	for (size_t i = 0; i < profile->op_count; i++)
		if (profile->ops[i].call != PROFILE_NONE) {
			submissions->first[profile->ops[i].call]++;
			linked_count++;
		}
	for (size_t i = 1; i <= profile->call_count; i++)
		submissions->first[i] += submissions->first[i - 1];
	if (!are_in_order(profile))
		return fill_ops(submissions, profile, linked_count);
	move_to_starts(submissions->first, profile->call_count);
	return 0;
}

void submissions_free(struct submissions *submissions)
{
	free(submissions->first);
	free(submissions->ops);
	*submissions = (struct submissions){0};
}
