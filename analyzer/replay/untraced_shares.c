#include "replay/untraced_shares.h"

#include "base/ns.h"
#include "base/search.h"

/* So much of a place's recorded time must lie between its first launch and the end of its last wait. */
#define LEAST_COVERED 0.9

static enum profile_call_class class_of(const struct profile *profile, uint32_t call)
{
	return profile->call_names[profile->calls[call].name].call_class;
}

struct call_in_calls {
	const struct profile_untraced_call *calls;
	size_t call;
};

static bool is_from_call_on(size_t index, const void *context)
{
	const struct call_in_calls *look = context;

	return look->calls[index].call >= look->call;
}

/* The first watched call from calls[call] on. */
static size_t watched_from(const struct profile *profile, size_t call)
{
	return search_first(0, profile->untraced_call_count, is_from_call_on,
			    &(struct call_in_calls){profile->untraced_calls, call});
}

struct lengths {
	int64_t recorded_ns, untraced_ns;
};

/* From the first launch of the calls to the end of the last wait.  Returns false where that is not most of them. */
static bool add_calls(struct lengths *lengths, const struct profile *profile, size_t first_call,
		      size_t end_call)
{
	size_t first = watched_from(profile, first_call), end = watched_from(profile, end_call);
	const struct profile_untraced_call *calls = profile->untraced_calls;
	int64_t recorded_ns, all_ns;

	while (end > first && class_of(profile, calls[end - 1].call) != CALL_SYNC)
		end--;
	if (end <= first)
		return false;
	recorded_ns = profile->calls[calls[end - 1].call].end_ns -
		      profile->calls[calls[first].call].start_ns;
	all_ns = profile->calls[end_call - 1].end_ns - profile->calls[first_call].start_ns;
	if ((double)recorded_ns < LEAST_COVERED * (double)all_ns)
		return false;
	lengths->recorded_ns += recorded_ns;
	lengths->untraced_ns += calls[end - 1].end_ns - calls[first].start_ns;
	return true;
}

static double share_of(const struct lengths *lengths)
{
	return lengths->recorded_ns > 0 && lengths->untraced_ns > 0
		       ? (double)lengths->untraced_ns / (double)lengths->recorded_ns
		       : 0;
}

/* The only thread that launches; PROFILE_NONE: there are several. */
static uint32_t only_thread(const struct profile *profile)
{
	const struct profile_untraced_call *calls = profile->untraced_calls;
	uint32_t thread = profile->calls[calls[0].call].thread;

	return profile->calls[calls[profile->untraced_call_count - 1].call].thread == thread
		       ? thread
		       : PROFILE_NONE;
}

double untraced_share(const struct profile *profile, const struct place *places, size_t count)
{
	struct lengths lengths = {0};
	uint32_t thread;

	if (!profile->untraced_call_count)
		return 0;
	for (size_t i = 0; i < count; i++)
		if (!add_calls(&lengths, profile, places[i].first, places[i].end))
			return 0;
	if (count)
		return share_of(&lengths);
	thread = only_thread(profile);
	if (thread == PROFILE_NONE ||
	    !add_calls(&lengths, profile, profile->untraced_calls[0].call,
		       profile->threads[thread].first_call + profile->threads[thread].call_count))
		return 0;
	return share_of(&lengths);
}

/* ---- the steady state ---- */

/* Iterations that follow each other: calls[] from the first one's to the last one's end. */
struct iterations {
	const struct profile *profile;
	struct lengths lengths;
	size_t first_call, end_call; /* end_call 0: there are none yet */
};

/* The host may be far ahead of the GPU: with the wait behind them, before anything else is launched. */
static void add_iterations(struct iterations *all)
{
	const struct profile *profile = all->profile;
	const struct profile_untraced_call *calls = profile->untraced_calls;
	size_t first = watched_from(profile, all->first_call);
	size_t end = watched_from(profile, all->end_call);

	if (end < profile->untraced_call_count && class_of(profile, calls[end].call) == CALL_SYNC &&
	    profile->calls[calls[end].call].thread == profile->calls[calls[first].call].thread)
		end++;
	if (end <= first + 1 || class_of(profile, calls[end - 1].call) != CALL_SYNC)
		return;
	all->lengths.recorded_ns += profile->calls[calls[end - 1].call].end_ns -
				    profile->calls[calls[first].call].start_ns;
	all->lengths.untraced_ns += calls[end - 1].end_ns - calls[first].start_ns;
}

static int visit_iteration(const struct steady_iteration *iteration, void *context)
{
	struct iterations *all = context;

	if (all->end_call != iteration->first_call) {
		if (all->end_call)
			add_iterations(all);
		all->first_call = iteration->first_call;
	}
	all->end_call = iteration->end_call;
	return 0;
}

double untraced_steady_share(const struct steady_loop *steady, const struct looped_run *run)
{
	struct iterations all = {.profile = run->profile};

	if (!run->profile->untraced_call_count)
		return 0;
	(void)steady_loop_visit(steady, run, visit_iteration, &all);
	if (all.end_call)
		add_iterations(&all);
	return share_of(&all.lengths);
}
