#include "replay/time_parts.h"

#include <math.h>

/* One that is to take as long as recorded, to the nanosecond, is as it was. */
static bool is_changed(const struct change *change, const struct profile_op *op, uint32_t index)
{
	return change && change_op_ns(change->op_ns, index) >= 0 &&
	       change_op_ns(change->op_ns, index) != op->end_ns - op->start_ns;
}

static bool is_moved(const struct change *change, uint32_t op)
{
	return change && change->lanes && change->lanes[op] != LANE_NONE;
}

static void add_call(struct time_parts *parts, const struct replay *replay,
		     const struct model *model, const struct change *change, size_t call)
{
	const struct submissions *submissions = &model->submissions;

	parts->has_changed_calls |= change && change->calls && change->calls[call] != CALL_KEPT;
	for (uint32_t i = submissions_first(submissions, call),
		      end = submissions_first(submissions, call + 1);
	     i < end; i++) {
		uint32_t op = submissions_op(submissions, i);
		double length_ns =
			(double)(replay_op_end_ns(replay, op) - replay_op_start_ns(replay, op));

		parts->has_changed_calls |= is_moved(change, op);
		if (is_changed(change, &model->profile->ops[op], op))
			parts->changed_ns += length_ns;
		else
			parts->kept_ns += length_ns;
	}
}

struct time_parts time_parts_of(const struct replay *replay, const struct model *model,
				const struct change *change, const struct place *places,
				size_t place_count, int64_t place_ns)
{
	struct time_parts parts = {0};
	double busy_ns;

	for (size_t i = 0; i < place_count; i++)
		for (size_t call = places[i].first; call < places[i].end; call++)
			add_call(&parts, replay, model, change, call);
	busy_ns = parts.kept_ns + parts.changed_ns;
	if (busy_ns > (double)place_ns) {
		parts.kept_ns *= (double)place_ns / busy_ns;
		parts.changed_ns *= (double)place_ns / busy_ns;
	}
	parts.rest_ns = fmax((double)place_ns - parts.kept_ns - parts.changed_ns, 0);
	return parts;
}

double time_parts_concerned_ns(const struct time_parts *parts)
{
	return parts->changed_ns + (parts->has_changed_calls ? parts->kept_ns + parts->rest_ns : 0);
}
