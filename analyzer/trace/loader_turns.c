#include "trace/loader.h"

#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/stable_sort.h"

/*
 * Threads that take turns: one calls while the other waits for it, as where an automatic differentiation runs
 * its backward pass in a thread of its own.  For the GPU these are one: what one of them launches waits for what
 * the other has done.  So the calls of all that take turns with the thread that calls most become its own, in the
 * order in which they were made.
 */

/* Threads that handed over less often may have met by chance. */
#define LEAST_TURNS 16

/* Calls of one thread: a slice, sorted by start. */
struct slice {
	size_t first, count;
	bool has_launches;
	bool is_joining;
};

/* The thread that calls most. */
struct leader {
	const struct profile_call *calls;
	size_t count;
	int64_t *until_ns; /* by call: when that and all before it have returned */
};

static bool is_launch(const struct profile *profile, const struct profile_call *call)
{
	enum profile_call_class class = profile->call_names[call->name].call_class;

	return class == CALL_LAUNCH || class == CALL_GRAPH_LAUNCH;
}

/* The process's calls, which are sorted by thread, cut into threads[]. */
static void cut(struct slice *slices, const struct process_loader *loader)
{
	const struct profile *profile = loader->loader->profile;

	for (size_t i = loader->first_call; i < profile->call_count; i++) {
		const struct profile_call *call = &profile->calls[i];
		struct slice *slice = &slices[call->thread];

		if (!slice->count)
			slice->first = i;
		slice->count++;
		slice->has_launches = slice->has_launches || is_launch(profile, call);
	}
}

/* Of those that launch; launching_count: how many do. */
static size_t most_calls(const struct slice *slices, size_t count, size_t *launching_count)
{
	size_t most = 0;

	*launching_count = 0;
	for (size_t i = 0; i < count; i++) {
		if (!slices[i].has_launches)
			continue;
		if (!*launching_count || slices[i].count > slices[most].count)
			most = i;
		++*launching_count;
	}
	return most;
}

/* ---- who takes turns with the leader ---- */

static int leader_open(struct leader *leader, const struct profile *profile,
		       const struct slice *slice)
{
	int64_t until_ns = INT64_MIN;

	leader->calls = profile->calls + slice->first;
	leader->count = slice->count;
	leader->until_ns = calloc(slice->count + 1, sizeof(*leader->until_ns));
	if (!leader->until_ns)
		return -ENOMEM;
	for (size_t i = 0; i < slice->count; i++) {
		if (leader->calls[i].end_ns > until_ns)
			until_ns = leader->calls[i].end_ns;
		leader->until_ns[i] = until_ns;
	}
	return 0;
}

struct begin_search {
	const struct leader *leader;
	int64_t moment_ns;
};

static bool begins_later(size_t index, const void *context)
{
	const struct begin_search *search = context;

	return search->leader->calls[index].start_ns > search->moment_ns;
}

/* How many of its calls have begun by a moment; from: as many certainly have.  In growing steps from there on. */
static size_t begun_by(const struct leader *leader, size_t from, int64_t moment_ns)
{
	const struct begin_search search = {leader, moment_ns};
	size_t low = from, high = from;

	for (size_t step = 1; high < leader->count && !begins_later(high, &search); step *= 2) {
		low = high + 1;
		high = leader->count - high > step ? high + step : leader->count;
	}
	return search_first(low, high, begins_later, &search);
}

/* Whether a call is apart from the leader's, of which so many have begun by then.  Handing over takes time: calls
 * that touch do not. */
static bool is_apart(const struct leader *leader, size_t begun_count,
		     const struct profile_call *call)
{
	return (!begun_count || leader->until_ns[begun_count - 1] < call->start_ns) &&
	       (begun_count == leader->count || leader->calls[begun_count].start_ns > call->end_ns);
}

/* Whether the two never are in a call at the same time, and go on after each other often. */
static bool takes_turns(const struct leader *leader, const struct profile_call *calls, size_t count)
{
	size_t begun_count = 0, turn_count = 0;

	for (size_t i = 0; i < count; i++) {
		size_t before_count = begun_count;

		begun_count = begun_by(leader, begun_count, calls[i].start_ns);
		if (!is_apart(leader, begun_count, &calls[i]))
			return false;
		if (begun_count > before_count)
			turn_count +=
				i ? 2 : 1; /* to the leader and back; the first time only back */
	}
	turn_count += begun_count < leader->count;
	return turn_count >= LEAST_TURNS;
}

static int find_joining(struct slice *slices, size_t most, const struct profile *profile,
			size_t *joining_count)
{
	struct leader leader = {0};
	int rc = leader_open(&leader, profile, &slices[most]);

	*joining_count = 0;
	for (size_t i = 0; rc == 0 && i < profile->thread_count; i++) {
		struct slice *slice = &slices[i];

		slice->is_joining =
			i != most && slice->has_launches &&
			takes_turns(&leader, profile->calls + slice->first, slice->count);
		*joining_count += slice->is_joining;
	}
	free(leader.until_ns);
	return rc;
}

/* ---- who of them does not with another one ---- */

static int compare_starts(const void *left, const void *right)
{
	const struct profile_call *a = left, *b = right;

	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Calls in the order in which they were made.  Of two threads that are in calls at the same time the one that
 * calls less stays apart: so at any time one at most of those that are left is in a call. */
static void part(struct slice *slices, const struct profile_call *calls, size_t count)
{
	uint32_t last = PROFILE_NONE; /* who called before */
	int64_t until_ns = INT64_MIN;

	for (size_t i = 0; i < count; i++) {
		uint32_t thread = calls[i].thread;

		if (!slices[thread].is_joining)
			continue;
		if (last != PROFILE_NONE && thread != last && slices[last].is_joining &&
		    calls[i].start_ns <= until_ns) {
			if (slices[thread].count <= slices[last].count) {
				slices[thread].is_joining = false;
				continue;
			}
			slices[last].is_joining = false;
		}
		if (thread != last || calls[i].end_ns > until_ns)
			until_ns = calls[i].end_ns;
		last = thread;
	}
}

static int part_joining(struct slice *slices, const struct profile *profile)
{
	struct profile_call *calls;
	size_t count = 0;
	int rc;

	for (size_t i = 0; i < profile->thread_count; i++)
		count += slices[i].is_joining ? slices[i].count : 0;
	calls = malloc((count + 1) * sizeof(*calls));
	if (!calls)
		return -ENOMEM;
	count = 0;
	for (size_t i = 0; i < profile->thread_count; i++)
		for (size_t j = 0; slices[i].is_joining && j < slices[i].count; j++)
			calls[count++] = profile->calls[slices[i].first + j];
	rc = stable_sort(calls, count, sizeof(*calls), compare_starts);
	if (rc == 0)
		part(slices, calls, count);
	free(calls);
	return rc;
}

/* ---- joining ---- */

/* What is read of these threads from now on belongs to the leader as well. */
static int join(struct process_loader *loader, const struct slice *slices, size_t most)
{
	struct profile *profile = loader->loader->profile;
	int rc = 0;

	for (size_t i = loader->first_call; i < profile->call_count; i++)
		if (slices[profile->calls[i].thread].is_joining)
			profile->calls[i].thread = (uint32_t)most;
	for (size_t i = 0; rc == 0 && i < profile->thread_count; i++)
		if (slices[i].is_joining)
			rc = id_map_put(&loader->threads, profile->threads[i].thread,
					(uint32_t)most);
	for (size_t i = 0; i < profile->thread_count; i++)
		profile->threads[i].is_joined |= slices[i].is_joining;
	profile->processes[loader->process].leader = (uint32_t)most;
	return rc == 0 ? loader_sort_calls(loader) : rc;
}

static int join_found(struct process_loader *loader)
{
	struct profile *profile = loader->loader->profile;
	struct slice *slices = calloc(profile->thread_count + 1, sizeof(*slices));
	size_t launching_count, joining_count = 0, most;
	int rc = slices ? 0 : -ENOMEM;

	if (rc < 0)
		return rc;
	cut(slices, loader);
	most = most_calls(slices, profile->thread_count, &launching_count);
	if (launching_count > 1)
		rc = find_joining(slices, most, profile, &joining_count);
	if (rc == 0 && joining_count > 1)
		rc = part_joining(slices, profile);
	if (rc == 0 && joining_count)
		rc = join(loader, slices, most);
	free(slices);
	return rc;
}

/* ---- what is told ---- */

/* Of a part of a recording (excerpt.h) the whole one tells: "LEADER THREAD...", NULL where nothing does.  All of them
 * are among threads[] from here on. */
static int find_told(const char **told, struct process_loader *loader)
{
	const struct profile_process *process =
		&loader->loader->profile->processes[loader->process];
	const char *at;
	char *end;

	*told = *profile_property(process, "excerpt", "")
			? profile_property(process, "excerpt_turns", "")
			: NULL;
	for (at = *told; at && *at; at = end) {
		uint32_t thread = (uint32_t)strtoul(at, &end, 10);

		if (end == at)
			return 0;
		if (loader_thread(loader, thread) == PROFILE_NONE)
			return -ENOMEM;
	}
	return 0;
}

static size_t take_told(struct slice *slices, size_t *most, const char *told,
			struct process_loader *loader)
{
	size_t count = 0;
	char *end;

	for (; *told; told = end) {
		size_t thread = loader_thread(loader, (uint32_t)strtoul(told, &end, 10));

		if (end == told)
			break;
		if (!count++)
			*most = thread;
		else
			slices[thread].is_joining = thread != *most;
	}
	return count > 1;
}

static int join_told(struct process_loader *loader, const char *told)
{
	struct slice *slices = calloc(loader->loader->profile->thread_count + 1, sizeof(*slices));
	size_t most = 0;
	int rc = slices ? 0 : -ENOMEM;

	if (rc == 0 && take_told(slices, &most, told, loader))
		rc = join(loader, slices, most);
	free(slices);
	return rc;
}

int loader_join_threads(struct process_loader *loader)
{
	const char *told;
	int told_rc = find_told(&told, loader);

	return told_rc < 0 ? told_rc : told ? join_told(loader, told) : join_found(loader);
}
