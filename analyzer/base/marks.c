#include "base/marks.h"

#include <errno.h>
#include <stdlib.h>

int marks_open(struct marks *marks, size_t item_count)
{
	size_t block_count = item_count / MARKS_BLOCK + 1;

	*marks = (struct marks){calloc(block_count, sizeof(*marks->blocks)), block_count};
	return marks->blocks ? 0 : -ENOMEM;
}

void marks_free(struct marks *marks)
{
	free(marks->blocks);
	*marks = (struct marks){0};
}

size_t marks_seal(struct marks *marks)
{
	size_t count = 0;

	for (size_t i = 0; i < marks->block_count; i++) {
		marks->blocks[i].before_count = count;
		count += marks_count_bits(marks->blocks[i].bits);
	}
	return count;
}
