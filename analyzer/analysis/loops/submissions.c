#include "analysis/loops/submissions.h"

#include <errno.h>
#include <stdlib.h>

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
	submissions->ops = malloc((linked_count + 1) * sizeof(*submissions->ops));
	if (!submissions->ops)
		return -ENOMEM;
	for (size_t i = 1; i <= profile->call_count; i++)
		submissions->first[i] += submissions->first[i - 1];
	for (size_t i = profile->op_count; i-- > 0;)
		if (profile->ops[i].call != PROFILE_NONE)
			submissions->ops[--submissions->first[profile->ops[i].call]] = (uint32_t)i;
	return 0;
}

void submissions_free(struct submissions *submissions)
{
	free(submissions->first);
	free(submissions->ops);
	*submissions = (struct submissions){0};
}
