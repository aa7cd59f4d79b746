#include "model/submitted.h"

#include <errno.h>
#include <stdlib.h>

/* first[] counts, then becomes the end of each call's part, and by filling from the back its start. */
int submitted_find(struct submitted *submitted, const struct profile *profile)
{
	size_t linked_count = 0;

	*submitted = (struct submitted){
		.first = calloc(profile->call_count + 1, sizeof(*submitted->first))};
	if (!submitted->first)
		return -ENOMEM;
	for (size_t i = 0; i < profile->op_count; i++)
		if (profile->ops[i].call != PROFILE_NONE) {
			submitted->first[profile->ops[i].call]++;
			linked_count++;
		}
	submitted->ops = malloc((linked_count + 1) * sizeof(*submitted->ops));
	if (!submitted->ops)
		return -ENOMEM;
	for (size_t i = 1; i <= profile->call_count; i++)
		submitted->first[i] += submitted->first[i - 1];
	for (size_t i = profile->op_count; i-- > 0;)
		if (profile->ops[i].call != PROFILE_NONE)
			submitted->ops[--submitted->first[profile->ops[i].call]] = (uint32_t)i;
	return 0;
}

void submitted_free(struct submitted *submitted)
{
	free(submitted->first);
	free(submitted->ops);
	*submitted = (struct submitted){0};
}
