/*
 * replay.h - runs the model again, as recorded or with a change.
 *
 * Calls are taken in the order in which they were recorded.  Each thread's clock
 * goes on by the host's own time; an operation starts when its call has submitted
 * it and all that it waits for has ended:
 *
 *   start = max(call + launch_to_start, ready + gap) + rest
 *
 * where rest is what the recorded start was later (or earlier) than the same
 * formula on recorded times says, so a replay without a change gives every
 * recorded time again.  replay_run_typical leaves it out.  Nothing starts before what it waits for.  With costs, the
 * time that recording added to calls is left out.
 *
 * Replaying a task graph with changed tasks is Daydream's idea (Zhu et al., USENIX ATC 2020).
 * Pure: allocates its result, prints nothing.
 */
#ifndef ROOFLINE_REPLAY_H
#define ROOFLINE_REPLAY_H

#include "analysis/time/op_ends.h"
#include "replay/call_times.h"
#include "replay/change.h"

struct replay {
	/* By call; one that is gone has none of its own.  Where they are not kept: NULL, or of an earlier run. */
	int64_t *call_start_ns, *call_end_ns;
	struct op_ends op_ends;
	/* By op; NULL while each takes as long as the change says, or as recorded.  They are kept with times of calls, and
	 * where an operation takes another time, as nodes do without what recording added. */
	int64_t *op_start_ns;
	size_t call_count, op_count;
	const struct profile *profile; /* of the last run; borrowed */
	const int64_t *changed_ns;     /* likewise: op_ns of its change, or NULL */
};

/* How long an operation takes by a change, or as recorded. */
static inline int64_t replay_op_length_ns(const struct replay *replay, size_t op)
{
	int64_t changed_ns = change_op_ns(replay->changed_ns, op);

	return changed_ns >= 0
		       ? changed_ns
		       : replay->profile->ops[op].end_ns - replay->profile->ops[op].start_ns;
}

static inline int64_t replay_op_end_ns(const struct replay *replay, size_t op)
{
	return op_ends_ns(&replay->op_ends, op);
}

static inline int64_t replay_op_start_ns(const struct replay *replay, size_t op)
{
	return replay->op_start_ns ? replay->op_start_ns[op]
				   : replay_op_end_ns(replay, op) - replay_op_length_ns(replay, op);
}

/* change and costs may be NULL: as recorded.  A change needs costs.  *replay is all 0, or what an
 * earlier run with this model left: then its memory is used again.  Returns 0 or -ENOMEM; the caller
 * frees with replay_free, also after a failure. */
int replay_run(struct replay *replay, const struct model *model, const struct change *change,
	       const struct costs *costs);
/* What is made of the times of calls, in place of keeping them. */
struct call_watch {
	struct part_time *part_times; /* what is added up */
	size_t part_time_count;
	struct call_times *call_times; /* open; NULL: none */
};

/* The same, but times of calls are not kept. */
int replay_time(struct replay *replay, const struct model *model, const struct change *change,
		const struct costs *costs, const struct call_watch *watch);
/* As recorded, but without rest, but for what waited until counters were set back: how far what is known of steps
 * explains the recording.  Times of calls are not kept either. */
int replay_run_typical(struct replay *replay, const struct model *model);
void replay_free(struct replay *replay);

/* The end of the last of calls [first, end) of a thread, and of all that they submitted. */
int64_t replay_end_ns(const struct replay *replay, const struct model *model, size_t first,
		      size_t end);

/* From the first operation of a device to its last one's end; 0 without any. */
int64_t replay_wall_ns(const struct replay *replay, const struct model *model, size_t device);

#endif
