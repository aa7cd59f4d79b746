#include "replay/job/blocked_launches.h"

#include "base/search.h"

/* A launch that is shorter is as usual; 3 to 8 us in the recordings of an H200. */
#define LEAST_BLOCKED_NS 10000
/* A queue that holds fewer operations is not full. */
#define LEAST_PENDING 128
/* How soon after the start of an operation the call goes on, as a share of its time: else it waited for something else. */
#define SOON_SHARE 0.25
/* Operations of other streams that are passed by. */
#define LOOK_BACK 64

struct moment {
	const struct profile_op *ops;
	int64_t time_ns;
};

static bool is_later(size_t index, const void *context)
{
	const struct moment *moment = context;

	return moment->ops[index].start_ns > moment->time_ns;
}

/* The last of its stream before the index. */
static uint32_t last_of_stream(const struct profile *profile, size_t index, size_t first,
			       uint32_t stream)
{
	for (size_t back = 0; back < LOOK_BACK && index > first; back++)
		if (profile->ops[--index].stream == stream)
			return (uint32_t)index;
	return PROFILE_NONE;
}

uint32_t blocked_launch_room(const struct model *model, size_t call)
{
	const struct profile *profile = model->profile;
	const struct profile_call *item = &profile->calls[call];
	int64_t length_ns = item->end_ns - item->start_ns;
	uint32_t op, room;
	size_t first, begun;

	if (length_ns < LEAST_BLOCKED_NS || !submissions_count(&model->submissions, call))
		return PROFILE_NONE;
	op = submissions_op(&model->submissions, submissions_first(&model->submissions, call));
	first = profile->devices[profile_op_device(profile, &profile->ops[op])].first_op;
	begun = search_first(first, op, is_later, &(struct moment){profile->ops, item->end_ns});
	if (op - begun < LEAST_PENDING)
		return PROFILE_NONE;
	room = last_of_stream(profile, begun, first, profile->ops[op].stream);
	if (room == PROFILE_NONE || profile->ops[room].start_ns < item->start_ns ||
	    (double)(item->end_ns - profile->ops[room].start_ns) > SOON_SHARE * (double)length_ns)
		return PROFILE_NONE;
	return room;
}
