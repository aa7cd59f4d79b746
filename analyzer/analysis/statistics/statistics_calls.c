#define _GNU_SOURCE /* qsort_r */
#include "base/distribution.h"
#include "base/ns.h"
#include "analysis/statistics/statistics_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RESULT_SUCCESS 0
#define RESULT_NOT_READY \
	600 /* cudaErrorNotReady, CUDA_ERROR_NOT_READY: a query of work that still runs */

/* What of the call counts: of a part of a recording what lies within.  Negative: it lies outside. */
static int64_t length_ns(const struct profile *profile, const struct profile_call *call)
{
	const struct profile_window *window = &profile->window;

	if (!window->is_part)
		return call->end_ns - call->start_ns;
	return min_ns(call->end_ns, window->to_ns) - max_ns(call->start_ns, window->from_ns);
}

/* Of a call that counts. */
static void split(struct call_statistics *name, struct steady_cursor *cursor,
		  const struct profile *profile, const struct profile_call *call)
{
	const struct profile_window *window = &profile->window;
	int64_t start_ns = call->start_ns;

	if (window->is_part)
		start_ns = max_ns(start_ns, window->from_ns);
	steady_split_host(&name->split, cursor, profile, call->thread, start_ns,
			  start_ns + length_ns(profile, call));
}

static int gather(struct durations *durations, const struct profile *profile,
		  const struct steady_state *steady_state, struct call_statistics *by_name)
{
	struct steady_cursor cursor = {.state = steady_state};

	for (size_t i = 0; i < profile->call_count; i++)
		if (length_ns(profile, &profile->calls[i]) >= 0)
			durations_count(durations, profile->calls[i].name);
	if (durations_lay_out(durations) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < profile->call_count; i++) {
		const struct profile_call *call = &profile->calls[i];
		int64_t counted_ns = length_ns(profile, call);

		if (counted_ns < 0)
			continue;
		durations_add(durations, call->name, counted_ns);
		split(&by_name[call->name], &cursor, profile, call);
		by_name[call->name].failed_count +=
			call->result != RESULT_SUCCESS && call->result != RESULT_NOT_READY;
	}
	return 0;
}

static void count_classes(struct statistics *statistics, const struct profile *profile)
{
	for (size_t i = 0; i < statistics->call_count; i++) {
		const struct call_statistics *call = &statistics->calls[i];
		enum profile_call_class class = profile->call_names[call->name].call_class;

		if (class == CALL_LAUNCH || class == CALL_GRAPH_LAUNCH)
			statistics->launch_call_count += call->time.count;
		else if (class == CALL_SYNC)
			statistics->sync_call_count += call->time.count;
	}
}

static int compare_calls(const void *left, const void *right, void *context)
{
	const struct call_statistics *a = left, *b = right;
	const struct profile *profile = context;
	int order = statistics_longer_first(a->time.total_ns, b->time.total_ns);

	return order ? order
		     : strcmp(profile->call_names[a->name].text, profile->call_names[b->name].text);
}

int statistics_collect_calls(struct statistics *statistics, const struct profile *profile,
			     const struct steady_state *steady_state)
{
	struct durations durations;
	int rc = durations_open(&durations, profile->call_name_count);

	statistics->calls = calloc(profile->call_name_count + 1, sizeof(*statistics->calls));
	if (rc == 0 && !statistics->calls)
		rc = -ENOMEM;
	if (rc == 0)
		rc = gather(&durations, profile, steady_state, statistics->calls);
	for (size_t i = 0; rc == 0 && i < profile->call_name_count; i++) {
		struct call_statistics call = statistics->calls[i];

		call.name = (uint32_t)i;
		call.time = durations_distribution(&durations, i);
		if (call.time.count)
			statistics->calls[statistics->call_count++] = call;
	}
	durations_free(&durations);
	if (rc < 0)
		return rc;
	qsort_r(statistics->calls, statistics->call_count, sizeof(*statistics->calls),
		compare_calls, (void *)profile);
	count_classes(statistics, profile);
	return 0;
}
