#include "trace/loader.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Threads that take turns: one calls while the other waits for it, as where an automatic differentiation runs
 * its backward pass in a thread of its own.  For the GPU these are one: what one of them launches waits for what
 * the other has done.  So their calls become those of one thread, in the order in which they were made.
 */

/* Threads that handed over less often may have met by chance. */
#define LEAST_TURNS 16

/* Calls of one thread: a slice, sorted by start. */
struct slice {
	size_t first, count;
	bool has_launches;
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

/* Whether two threads never are in a call at the same time, and go on after each other often. */
static bool take_turns(const struct profile *profile, const struct slice *one,
		       const struct slice *other)
{
	const struct profile_call *a = profile->calls + one->first, *a_end = a + one->count;
	const struct profile_call *b = profile->calls + other->first, *b_end = b + other->count;
	int64_t a_until_ns = INT64_MIN, b_until_ns = INT64_MIN;
	size_t turn_count = 0;
	bool was_a = false, is_a;

	while (a < a_end || b < b_end) {
		is_a = b == b_end || (a < a_end && a->start_ns <= b->start_ns);
		if (is_a ? a->start_ns < b_until_ns : b->start_ns < a_until_ns)
			return false;
		turn_count += is_a != was_a;
		was_a = is_a;
		if (is_a && a->end_ns > a_until_ns)
			a_until_ns = a->end_ns;
		if (!is_a && b->end_ns > b_until_ns)
			b_until_ns = b->end_ns;
		*(is_a ? &a : &b) += 1;
	}
	return turn_count >= LEAST_TURNS;
}

/* What is read of a thread from now on belongs to the other one. */
static int join(struct process_loader *loader, size_t from, size_t to)
{
	struct profile *profile = loader->loader->profile;

	for (size_t i = loader->first_call; i < profile->call_count; i++)
		if (profile->calls[i].thread == from)
			profile->calls[i].thread = (uint32_t)to;
	return id_map_put(&loader->threads, profile->threads[from].thread, (uint32_t)to);
}

static size_t most_calls(const struct slice *slices, size_t count)
{
	size_t most = 0;

	for (size_t i = 1; i < count; i++)
		if (slices[i].has_launches &&
		    (!slices[most].has_launches || slices[i].count > slices[most].count))
			most = i;
	return most;
}

/* The first thread that takes turns with the one that calls most; joined_count: 1 when there is one, else 0. */
static int join_one(struct process_loader *loader, struct slice *slices, size_t *joined_count)
{
	const struct profile *profile = loader->loader->profile;
	size_t count = profile->thread_count, most;

	for (size_t i = 0; i < count; i++)
		slices[i] = (struct slice){0};
	cut(slices, loader);
	most = most_calls(slices, count);
	*joined_count = 0;
	for (size_t i = 0; i < count; i++)
		if (i != most && slices[i].has_launches &&
		    take_turns(profile, &slices[most], &slices[i])) {
			*joined_count = 1;
			return join(loader, i, most);
		}
	return 0;
}

int loader_join_threads(struct process_loader *loader)
{
	struct profile *profile = loader->loader->profile;
	struct slice *slices = calloc(profile->thread_count + 1, sizeof(*slices));
	size_t joined_count = 1;
	int rc = slices ? 0 : -ENOMEM;

	while (rc == 0 && joined_count) {
		rc = join_one(loader, slices, &joined_count);
		if (rc == 0 && joined_count)
			rc = loader_sort_calls(loader);
	}
	free(slices);
	return rc;
}
