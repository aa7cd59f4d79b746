/* replay_read.c - what a replay says, once it has run. */
#include "base/ns.h"
#include "replay/replay.h"

int64_t replay_end_ns(const struct replay *replay, const struct model *model, size_t first,
		      size_t end)
{
	int64_t last_ns = replay->call_end_ns[end - 1];

	for (size_t i = first; i < end; i++)
		for (uint32_t j = model->submissions.first[i]; j < model->submissions.first[i + 1];
		     j++)
			last_ns = max_ns(last_ns, replay->op_end_ns[model->submissions.ops[j]]);
	return last_ns;
}

int64_t replay_wall_ns(const struct replay *replay, const struct model *model, size_t device)
{
	const struct profile_device *what = &model->profile->devices[device];
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;

	for (size_t i = what->first_op; i < what->first_op + what->op_count; i++) {
		if (replay->op_start_ns[i] < first_ns)
			first_ns = replay->op_start_ns[i];
		if (replay->op_end_ns[i] > last_ns)
			last_ns = replay->op_end_ns[i];
	}
	return last_ns > first_ns ? last_ns - first_ns : 0;
}
