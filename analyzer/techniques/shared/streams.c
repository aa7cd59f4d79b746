#include "techniques/shared/streams.h"

bool streams_are_many(const struct model *model, const struct loop *loop, bool only_kernels,
		      size_t stream_count)
{
	uint32_t streams[STREAMS_LOOKED_AT];
	size_t end = loop->first_call + loop->call_count, found = 0;

	for (uint32_t i = submissions_first(&model->submissions, loop->first_call);
	     i < submissions_first(&model->submissions, end) && found < stream_count; i++) {
		const struct profile_op *op =
			&model->profile->ops[submissions_op(&model->submissions, i)];
		size_t j = 0;

		if (only_kernels && op->kind != OP_KERNEL)
			continue;
		while (j < found && streams[j] != op->stream)
			j++;
		if (j == found)
			streams[found++] = op->stream;
	}
	return found >= stream_count;
}
