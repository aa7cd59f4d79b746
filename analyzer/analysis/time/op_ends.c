#include "analysis/time/op_ends.h"

#include <errno.h>
#include <stdlib.h>

#define NOT_SET INT64_MIN

static int allocate(struct op_ends *ends, size_t count)
{
	ends->count = count;
	ends->later_ns = malloc((count / OP_ENDS_BLOCK + 1) * sizeof(*ends->later_ns));
	ends->further_ns = calloc(count + 1, sizeof(*ends->further_ns));
	return ends->later_ns && ends->further_ns ? 0 : -ENOMEM;
}

int op_ends_open(struct op_ends *ends, const struct profile *profile)
{
	ends->ops = profile->ops;
	if (!ends->further_ns && allocate(ends, profile->op_count) < 0)
		return -ENOMEM;
	free(ends->whole_ns);
	ends->whole_ns = NULL;
	for (size_t i = 0; i <= ends->count / OP_ENDS_BLOCK; i++)
		ends->later_ns[i] = NOT_SET;
	return 0;
}

void op_ends_free(struct op_ends *ends)
{
	free(ends->later_ns);
	free(ends->further_ns);
	free(ends->whole_ns);
	*ends = (struct op_ends){0};
}

/* What was not set yet may become anything. */
static int widen(struct op_ends *ends)
{
	int64_t *whole_ns = calloc(ends->count + 1, sizeof(*whole_ns));

	if (!whole_ns)
		return -ENOMEM;
	for (size_t i = 0; i < ends->count; i++)
		if (ends->later_ns[i / OP_ENDS_BLOCK] != NOT_SET)
			whole_ns[i] = op_ends_ns(ends, i);
	ends->whole_ns = whole_ns;
	return 0;
}

int op_ends_set(struct op_ends *ends, size_t op, int64_t end_ns)
{
	int64_t later_ns = end_ns - ends->ops[op].end_ns, further_ns;
	bool fits;
	int64_t *block_ns = &ends->later_ns[op / OP_ENDS_BLOCK];

	if (*block_ns == NOT_SET)
		*block_ns = later_ns;
	fits = !__builtin_sub_overflow(later_ns, *block_ns, &further_ns) &&
	       further_ns == (int32_t)further_ns;
	if (!ends->whole_ns && !fits && widen(ends) < 0)
		return -ENOMEM;
	if (ends->whole_ns)
		ends->whole_ns[op] = end_ns;
	else
		ends->further_ns[op] = (int32_t)further_ns;
	return 0;
}
