#include "analysis/time/op_ends.h"

#include <errno.h>
#include <stdlib.h>

static int allocate(struct op_ends *ends, size_t count)
{
	ends->count = count;
	ends->blocks = calloc(count / OP_ENDS_BLOCK + 1, sizeof(*ends->blocks));
	ends->further_ns = calloc(count + 1, sizeof(*ends->further_ns));
	return ends->blocks && ends->further_ns ? 0 : -ENOMEM;
}

static void forget(struct op_ends *ends)
{
	for (size_t i = 0; ends->blocks && i <= ends->count / OP_ENDS_BLOCK; i++) {
		free(ends->blocks[i].whole_ns);
		ends->blocks[i] = (struct op_ends_block){.later_ns = OP_ENDS_NOT_SET};
	}
}

int op_ends_open(struct op_ends *ends, const struct profile *profile)
{
	ends->ops = profile->ops;
	if (!ends->further_ns && allocate(ends, profile->op_count) < 0)
		return -ENOMEM;
	forget(ends);
	return 0;
}

void op_ends_free(struct op_ends *ends)
{
	forget(ends);
	free(ends->blocks);
	free(ends->further_ns);
	*ends = (struct op_ends){0};
}

/* What was not set yet may become anything. */
static int keep_whole(struct op_ends *ends, struct op_ends_block *block)
{
	size_t first = (size_t)(block - ends->blocks) * OP_ENDS_BLOCK;
	int64_t *whole_ns = malloc(OP_ENDS_BLOCK * sizeof(*whole_ns));

	if (!whole_ns)
		return -ENOMEM;
	for (size_t i = 0; i < OP_ENDS_BLOCK; i++)
		whole_ns[i] = first + i < ends->count ? op_ends_ns(ends, first + i) : 0;
	block->whole_ns = whole_ns;
	return 0;
}

int op_ends_set_whole(struct op_ends *ends, size_t op, int64_t end_ns)
{
	struct op_ends_block *block = &ends->blocks[op / OP_ENDS_BLOCK];

	if (!block->whole_ns && keep_whole(ends, block) < 0)
		return -ENOMEM;
	block->whole_ns[op % OP_ENDS_BLOCK] = end_ns;
	return 0;
}
