#include "trace/join_untraced.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"

/* Calls of a thread that both runs tell: launches, and waits of the host. */
struct watched {
	const struct profile *profile;
	uint32_t process;
	uint32_t *calls; /* owned; profile->calls[], by start_ns */
	size_t count;
	int64_t first_launch_ns; /* INT64_MAX: it launches nothing, and is left out */
};

/* The threads that launch, by process, then by when they begin to; or those of one process. */
struct watched_threads {
	struct watched *items;
	size_t count;
};

static bool is_launch(const struct profile *profile, uint32_t call)
{
	const struct profile_call_name *name = &profile->call_names[profile->calls[call].name];

	return name->call_class == CALL_GRAPH_LAUNCH ||
	       (name->call_class == CALL_LAUNCH && strstr(name->text, "Kernel"));
}

static bool is_watched(const struct profile *profile, uint32_t call)
{
	const struct profile_call_name *name = &profile->call_names[profile->calls[call].name];

	return is_launch(profile, call) ||
	       (name->call_class == CALL_SYNC && strstr(name->text, "Synchronize"));
}

static enum profile_call_class class_of(const struct profile *profile, uint32_t call)
{
	return profile->call_names[profile->calls[call].name].call_class;
}

static int watch_thread(struct watched *watched, const struct profile *profile, size_t thread)
{
	size_t first = profile->threads[thread].first_call;
	size_t end = first + profile->threads[thread].call_count;

	*watched = (struct watched){.profile = profile,
				    .process = profile->threads[thread].process,
				    .first_launch_ns = INT64_MAX};
	watched->calls = malloc((end - first + 1) * sizeof(*watched->calls));
	if (!watched->calls)
		return -ENOMEM;
	for (size_t i = first; i < end; i++) {
		if (!is_watched(profile, (uint32_t)i))
			continue;
		watched->calls[watched->count++] = (uint32_t)i;
		if (watched->first_launch_ns == INT64_MAX && is_launch(profile, (uint32_t)i))
			watched->first_launch_ns = profile->calls[i].start_ns;
	}
	return 0;
}

static void watched_free(struct watched_threads *threads)
{
	for (size_t i = 0; i < threads->count; i++)
		free(threads->items[i].calls);
	free(threads->items);
	*threads = (struct watched_threads){0};
}

static int compare_threads(const void *left, const void *right)
{
	const struct watched *a = left, *b = right;

	if (a->process != b->process)
		return a->process > b->process ? 1 : -1;
	return (a->first_launch_ns > b->first_launch_ns) -
	       (a->first_launch_ns < b->first_launch_ns);
}

static int watch_all(struct watched_threads *out, const struct profile *profile)
{
	int rc = 0;

	*out = (struct watched_threads){
		.items = calloc(profile->thread_count + 1, sizeof(*out->items))};
	if (!out->items)
		return -ENOMEM;
	for (size_t i = 0; rc == 0 && i < profile->thread_count; i++) {
		struct watched *watched = &out->items[out->count];

		rc = watch_thread(watched, profile, i);
		if (watched->first_launch_ns == INT64_MAX)
			free(watched->calls);
		else
			out->count++;
	}
	qsort(out->items, out->count, sizeof(*out->items), compare_threads);
	return rc;
}

/* Those of the process that begins at index first. */
static struct watched_threads process_from(const struct watched_threads *all, size_t first)
{
	size_t end = first + 1;

	while (end < all->count && all->items[end].process == all->items[first].process)
		end++;
	return (struct watched_threads){&all->items[first], end - first};
}

/* ---- whether two runs launch the same ---- */

/* The next launch from there on; watched->count: there is none. */
static size_t next_launch(const struct watched *watched, size_t from)
{
	while (from < watched->count && !is_launch(watched->profile, watched->calls[from]))
		from++;
	return from;
}

static bool is_same_thread(const struct watched *a, const struct watched *b)
{
	size_t i = next_launch(a, 0), j = next_launch(b, 0);

	while (i < a->count && j < b->count) {
		if (class_of(a->profile, a->calls[i]) != class_of(b->profile, b->calls[j]))
			return false;
		i = next_launch(a, i + 1);
		j = next_launch(b, j + 1);
	}
	return i == a->count && j == b->count;
}

static bool is_same(const struct watched_threads *a, const struct watched_threads *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (!is_same_thread(&a->items[i], &b->items[i]))
			return false;
	return true;
}

/* From the first launch to the end of the last call. */
static int64_t length_ns(const struct watched_threads *process)
{
	int64_t end_ns = INT64_MIN;

	for (size_t i = 0; i < process->count; i++) {
		const struct watched *watched = &process->items[i];

		end_ns = max_ns(end_ns,
				watched->profile->calls[watched->calls[watched->count - 1]].end_ns);
	}
	return end_ns - process->items[0].first_launch_ns;
}

/* ---- one of them ---- */

struct found_run {
	struct watched_threads process;
	int64_t ns;
};

static int compare_runs(const void *left, const void *right)
{
	const struct found_run *a = left, *b = right;

	return (a->ns > b->ns) - (a->ns < b->ns);
}

static void put(struct profile *profile, uint32_t call, const struct profile_call *untraced)
{
	profile->untraced_calls[profile->untraced_call_count++] =
		(struct profile_untraced_call){.call = call,
					       .start_ns = untraced->start_ns,
					       .end_ns = untraced->end_ns};
}

/* Between two launches as many waits are the same ones. */
static void put_thread(struct profile *profile, const struct watched *own,
		       const struct watched *untraced)
{
	size_t i = 0, j = 0;

	while (i < own->count && j < untraced->count) {
		size_t next_i = next_launch(own, i), next_j = next_launch(untraced, j);

		for (size_t k = 0; next_i - i == next_j - j && i + k < next_i; k++)
			put(profile, own->calls[i + k],
			    &untraced->profile->calls[untraced->calls[j + k]]);
		if (next_i < own->count && next_j < untraced->count)
			put(profile, own->calls[next_i],
			    &untraced->profile->calls[untraced->calls[next_j]]);
		i = next_i + 1;
		j = next_j + 1;
	}
}

static int compare_calls(const void *left, const void *right)
{
	const struct profile_untraced_call *a = left, *b = right;

	return (a->call > b->call) - (a->call < b->call);
}

static int put_all(struct profile *profile, const struct watched_threads *own,
		   const struct watched_threads *untraced)
{
	size_t count = 0;

	for (size_t i = 0; i < own->count; i++)
		count += own->items[i].count;
	profile->untraced_calls = malloc((count + 1) * sizeof(*profile->untraced_calls));
	if (!profile->untraced_calls)
		return -ENOMEM;
	for (size_t i = 0; i < own->count; i++)
		put_thread(profile, &own->items[i], &untraced->items[i]);
	qsort(profile->untraced_calls, profile->untraced_call_count,
	      sizeof(*profile->untraced_calls), compare_calls);
	return 0;
}

/* Of the runs without recording those that are the same as own: the one of median length. */
static int choose(struct profile *profile, const struct watched_threads *own,
		  const struct watched_threads *runs)
{
	struct found_run *found = calloc(runs->count + 1, sizeof(*found));
	size_t count = 0;
	int rc = 0;

	if (!found)
		return -ENOMEM;
	for (size_t i = 0; i < runs->count;) {
		struct watched_threads process = process_from(runs, i);

		if (is_same(own, &process))
			found[count++] = (struct found_run){process, length_ns(&process)};
		i += process.count;
	}
	if (count) {
		qsort(found, count, sizeof(*found), compare_runs);
		rc = put_all(profile, own, &found[(count - 1) / 2].process);
	}
	profile->untraced_same_count = count;
	free(found);
	return rc;
}

/* With the only process that launches; of several nobody knows which is which. */
static int join(struct profile *profile)
{
	struct watched_threads own, runs = {0};
	int rc = watch_all(&own, profile);

	if (rc == 0 && own.count && process_from(&own, 0).count == own.count) {
		rc = watch_all(&runs, profile->untraced_run);
		if (rc == 0)
			rc = choose(profile, &own, &runs);
	}
	watched_free(&own);
	watched_free(&runs);
	return rc;
}

int profile_join_untraced(struct profile *profile)
{
	int rc;

	if (!profile->untraced_run)
		return 0;
	profile->untraced_run_count = profile->untraced_run->process_count;
	rc = join(profile);
	profile_free(profile->untraced_run);
	profile->untraced_run = NULL;
	return rc;
}
