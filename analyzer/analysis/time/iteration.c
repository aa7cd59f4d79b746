#include "analysis/time/iteration.h"

#include <errno.h>
#include <inttypes.h>

#include "analysis/time/steady_state.h"
#include "base/ns.h"

struct search {
	struct occurrence *out;
	uint64_t next;
};

static int take(const struct steady_iteration *iteration, void *context)
{
	struct search *search = context;

	if (search->next++ == search->out->number) {
		search->out->start_ns = iteration->start_ns;
		search->out->end_ns = iteration->end_ns;
	}
	return 0;
}

/* When the iteration was launched: of the operations that began in its time, by the thread of the first. */
struct launched {
	uint32_t thread;
	int64_t first_ns, last_ns;
	bool is_any;
};

static struct launched launched_in(const struct occurrence *iteration,
				   const struct profile *profile)
{
	struct launched launched = {.first_ns = INT64_MAX, .last_ns = INT64_MIN};

	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];
		const struct profile_call *call =
			op->call == PROFILE_NONE ? NULL : &profile->calls[op->call];

		if (!call || op->start_ns < iteration->start_ns ||
		    op->start_ns >= iteration->end_ns)
			continue;
		if (!launched.is_any)
			launched.thread = call->thread;
		launched.is_any = true;
		if (call->thread != launched.thread)
			continue;
		launched.first_ns = min_ns(launched.first_ns, call->start_ns);
		launched.last_ns = max_ns(launched.last_ns, call->start_ns);
	}
	return launched;
}

static const char *range_around(const struct occurrence *iteration, const struct profile *profile)
{
	struct launched launched = launched_in(iteration, profile);
	const struct profile_range *innermost = NULL;

	for (size_t i = 0; launched.is_any && i < profile->range_count; i++) {
		const struct profile_range *range = &profile->ranges[i];

		if (range->thread == launched.thread && range->start_ns <= launched.first_ns &&
		    range->end_ns > launched.last_ns &&
		    (!innermost || range->start_ns >= innermost->start_ns))
			innermost = range;
	}
	return innermost ? innermost->name : NULL;
}

static int find_in(struct occurrence *out, const struct profile *profile,
		   const struct steady_state *state, const struct steady_device *device,
		   struct err *err)
{
	struct submissions submissions;
	const struct looped_run run = {.profile = profile,
				       .submissions = &submissions,
				       .loops = &state->repeated};
	struct search search = {out, 1};

	out->count = device->loop.count;
	if (out->number < 1 || out->number > out->count)
		return err_set(err, -ENOENT,
			       "%s: the steady state has %" PRIu64
			       " iterations: N in " ITERATION_NAME ":N is 1 to %" PRIu64
			       ", not %" PRIu64,
			       profile->path, out->count, out->count, out->number);
	if (submissions_find(&submissions, profile) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	(void)steady_loop_visit(&device->loop, &run, take, &search);
	submissions_free(&submissions);
	out->within = range_around(out, profile);
	return 0;
}

static int find(struct occurrence *out, const struct profile *profile,
		const struct steady_state *state, struct err *err)
{
	for (size_t i = 0; i < state->device_count; i++)
		if (state->devices[i].is_found)
			return find_in(out, profile, state, &state->devices[i], err);
	return err_set(
		err, -ENOENT,
		"%s: no loop of kernels takes most of the time, so it has no iterations; give "
		"an NVTX range or a kernel, or --from and --to",
		profile->path);
}

int iteration_find(struct occurrence *out, const struct profile *profile, uint64_t number,
		   struct err *err)
{
	struct timeline *timeline = NULL;
	struct gap_analysis *gaps = NULL;
	struct steady_state *state = NULL;
	int rc = timeline_build(&timeline, profile, err);

	*out = (struct occurrence){.name = ITERATION_NAME, .number = number, .is_iteration = true};
	if (rc == 0)
		rc = gaps_analyze(&gaps, profile, timeline, 0, err);
	if (rc == 0)
		rc = steady_state_build(&state, profile, timeline, gaps, err);
	if (rc == 0)
		rc = find(out, profile, state, err);
	steady_state_free(state);
	gaps_free(gaps);
	timeline_free(timeline);
	return rc;
}
