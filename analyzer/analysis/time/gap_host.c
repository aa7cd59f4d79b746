#include "analysis/time/gap_host.h"

#include "analysis/time/host_range.h"
#include "base/ns.h"

/* Along the thread's calls, from the gap's beginning to the launching call's end. */
struct walk {
	struct gap_host *host;
	const struct profile *profile;
	const struct gap *gap;
	int64_t now_ns;
	int64_t own_at_ns, call_at_ns; /* the middle of the longest of each */
	uint32_t last;		       /* calls[] that returned last, or PROFILE_NONE */
};

static void take_own(struct walk *walk, uint32_t next, int64_t until_ns)
{
	if (until_ns - walk->now_ns <= walk->host->own_ns)
		return;
	walk->host->own_ns = until_ns - walk->now_ns;
	walk->host->after = walk->last;
	walk->host->then = next;
	walk->own_at_ns = walk->now_ns + walk->host->own_ns / 2;
}

static void take_call(struct walk *walk, uint32_t index)
{
	const struct profile_call *call = &walk->profile->calls[index];
	int64_t from_ns = max_ns(call->start_ns, walk->now_ns);
	int64_t to_ns = min_ns(call->end_ns, walk->gap->end_ns);

	take_own(walk, index, min_ns(call->start_ns, walk->gap->end_ns));
	if (to_ns - from_ns > walk->host->call_ns) {
		walk->host->call_ns = to_ns - from_ns;
		walk->host->call = index;
		walk->call_at_ns = from_ns + walk->host->call_ns / 2;
	}
	walk->now_ns = max_ns(walk->now_ns, to_ns);
	walk->last = index;
}

static void walk_calls(struct walk *walk, uint32_t launch)
{
	const struct profile *profile = walk->profile;
	size_t begin = profile->threads[profile->calls[launch].thread].first_call;
	size_t first = launch;

	while (first > begin && profile->calls[first - 1].end_ns > walk->gap->start_ns)
		first--;
	if (first > begin)
		walk->last = (uint32_t)first - 1;
	for (size_t i = first; i <= launch; i++)
		take_call(walk, (uint32_t)i);
}

bool gap_host_find(struct gap_host *out, const struct profile *profile, const struct gap *gap)
{
	uint32_t launch = profile->ops[gap->after].call;
	struct walk walk = {.host = out,
			    .profile = profile,
			    .gap = gap,
			    .now_ns = gap->start_ns,
			    .own_at_ns = gap->start_ns,
			    .call_at_ns = gap->start_ns,
			    .last = PROFILE_NONE};

	*out = (struct gap_host){.launch = launch,
				 .after = PROFILE_NONE,
				 .then = PROFILE_NONE,
				 .call = PROFILE_NONE};
	if (launch == PROFILE_NONE || profile_op_is_early(profile, &profile->ops[gap->after]))
		return false;
	out->thread = profile->calls[launch].thread;
	if (profile->calls[launch].end_ns <= gap->start_ns)
		out->returned_ns = gap->start_ns - profile->calls[launch].end_ns;
	else
		walk_calls(&walk, launch);
	out->range = host_range_at(profile, out->thread,
				   out->own_ns >= out->call_ns ? walk.own_at_ns : walk.call_at_ns);
	return true;
}
