#include "analysis/time/steady_split.h"

#include "base/sums.h"

static const struct spans *device_when(const struct steady_state *state, uint32_t device)
{
	return state && state->devices[device].is_found ? &state->devices[device].when : NULL;
}

static const struct spans *host_when(const struct steady_state *state,
				     const struct profile *profile, uint32_t thread)
{
	const struct spans *when =
		state ? &state->host_when[profile->threads[thread].process] : NULL;

	return when && when->count ? when : NULL;
}

static void go_to(struct steady_cursor *cursor, uint32_t at, const struct spans *when)
{
	cursor->at = at;
	cursor->when = when;
	cursor->next = 0;
}

static void add(struct steady_split *split, int64_t all_ns, int64_t steady_ns)
{
	sum_add_ns(&split->steady.time_ns, steady_ns);
	sum_add_ns(&split->once.time_ns, all_ns - steady_ns);
}

static void count(struct steady_split *split, bool is_steady)
{
	split->steady.count += is_steady;
	split->once.count += !is_steady;
}

/* Returns whether it begins in the steady state. */
static bool add_next(struct steady_split *split, struct steady_cursor *cursor, int64_t start_ns,
		     int64_t end_ns)
{
	const struct spans *when = cursor->when;

	if (!when) {
		split->is_unknown = true;
		return false;
	}
	add(split, end_ns - start_ns, spans_covered_next(when, &cursor->next, start_ns, end_ns));
	return cursor->next < when->count && when->items[cursor->next].start_ns <= start_ns;
}

void steady_split_op(struct steady_split *split, struct steady_cursor *cursor,
		     const struct profile *profile, const struct profile_op *op)
{
	uint32_t device = profile_op_device(profile, op);

	if (cursor->at != device + 1)
		go_to(cursor, device + 1, device_when(cursor->state, device));
	count(split, add_next(split, cursor, op->start_ns, op->end_ns));
}

void steady_split_device(struct steady_split *split, struct steady_cursor *cursor, uint32_t device,
			 int64_t start_ns, int64_t end_ns)
{
	if (cursor->at != device + 1)
		go_to(cursor, device + 1, device_when(cursor->state, device));
	(void)add_next(split, cursor, start_ns, end_ns);
}

void steady_split_host(struct steady_split *split, struct steady_cursor *cursor,
		       const struct profile *profile, uint32_t thread, int64_t start_ns,
		       int64_t end_ns)
{
	if (cursor->at != thread + 1)
		go_to(cursor, thread + 1, host_when(cursor->state, profile, thread));
	count(split, add_next(split, cursor, start_ns, end_ns));
}

void steady_split_any(struct steady_split *split, const struct steady_state *state, uint32_t device,
		      int64_t start_ns, int64_t end_ns)
{
	const struct spans *when = device_when(state, device);

	if (!when) {
		split->is_unknown = true;
		return;
	}
	add(split, end_ns - start_ns, spans_covered(when, start_ns, end_ns));
	count(split, spans_covered(when, start_ns, start_ns + 1) > 0);
}
