/*
 * job_problems.c - what is wrong with a job: ranks that are missing or launch collectives in different orders, and
 * collectives that some ranks came to and that never ended.
 *
 * CUPTI tells of a kernel when it has ended.  Where a recording was cut off, a launch whose kernel it does not have
 * is one that had not ended: behind the last operation that ran, as those before it must have.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/job/job_parts.h"
#include "base/format.h"

/* "ranks 1, 2 and 5": as many as fit a sentence. */
struct names {
	char text[320];
	size_t count;
};

#define NAMED_MOST 8

static void name(struct names *names, const char *what)
{
	size_t used = strlen(names->text);

	if (names->count++ < NAMED_MOST)
		snprintf(names->text + used, sizeof(names->text) - used, "%s%s", used ? ", " : "",
			 what);
	else if (names->count == NAMED_MOST + 1)
		snprintf(names->text + used, sizeof(names->text) - used, " and others");
}

static void name_rank(struct names *names, const struct job_parts *parts, uint32_t rank)
{
	char text[256];

	job_name_rank(text, sizeof(text), parts->profile, &parts->job->ranks[rank]);
	name(names, text);
}

/* ---- missing ranks ---- */

#define WORLD_MOST (1 << 24)

static int64_t world_size(const struct profile *profile)
{
	int64_t most = 0;

	for (size_t i = 0; i < profile->process_count; i++) {
		int64_t size = strtoll(profile_property(&profile->processes[i], "world_size", "0"),
				       NULL, 10);

		if (profile->processes[i].rank >= 0 && size > most && size <= WORLD_MOST)
			most = size;
	}
	return most;
}

static int find_missing(struct job_parts *parts)
{
	const struct profile *profile = parts->profile;
	int64_t size = world_size(profile);
	bool *is_there = calloc((size_t)size + 1, sizeof(*is_there));
	struct names names = {"", 0};
	int rc = 0;

	if (!is_there)
		return -ENOMEM;
	for (size_t i = 0; i < profile->process_count; i++)
		if (profile->processes[i].rank >= 0 && profile->processes[i].rank < size)
			is_there[profile->processes[i].rank] = true;
	for (int64_t rank = 0; rank < size; rank++) {
		char number[32];

		snprintf(number, sizeof(number), "%" PRId64, rank);
		if (!is_there[rank])
			name(&names, number);
	}
	if (names.count)
		rc = sentences_add(&parts->job->problems,
				   "%zu of %" PRId64 " ranks %s not in the recording: %s",
				   names.count, size, names.count == 1 ? "is" : "are", names.text);
	free(is_there);
	return rc;
}

/* ---- different orders ---- */

/* The first: others follow from it. */
static int find_order(struct job_parts *parts)
{
	const struct collective_mismatch *found = parts->collectives->mismatches;
	char names[2][256], kernels[2][64];

	if (!parts->collectives->mismatch_count)
		return 0;
	for (size_t i = 0; i < 2; i++) {
		uint32_t rank = parts->rank_of_collective[found->ranks[i]];

		job_name_rank(names[i], sizeof(names[i]), parts->profile, &parts->job->ranks[rank]);
		format_kernel_name(kernels[i], sizeof(kernels[i]),
				   parts->profile->kernel_names[found->kernels[i]],
				   sizeof(kernels[i]) - 1);
	}
	return sentences_add(
		&parts->job->problems,
		"the ranks launch their collectives in different orders: as number %s, "
		"%s launches %s and %s %s",
		format_count(found->index + 1).text, names[0], kernels[0], names[1], kernels[1]);
}

/* ---- recordings that were cut off ---- */

/* Of a process: the last launch whose operation ran, and launches after it. */
struct pending {
	int64_t last_ns;
	uint64_t count;
};

static bool is_launch(const struct profile *profile, const struct profile_call *call)
{
	enum profile_call_class class = profile->call_names[call->name].call_class;

	return class == CALL_LAUNCH || class == CALL_GRAPH_LAUNCH;
}

static int find_pending(struct pending **out, const struct profile *profile)
{
	struct pending *pending = calloc(profile->process_count + 1, sizeof(*pending));

	*out = pending;
	if (!pending)
		return -ENOMEM;
	for (size_t i = 0; i < profile->process_count; i++)
		pending[i].last_ns = INT64_MIN;
	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];
		struct pending *of = &pending[profile_op_process(profile, op)];

		if (op->call != PROFILE_NONE && profile->calls[op->call].start_ns > of->last_ns)
			of->last_ns = profile->calls[op->call].start_ns;
	}
	for (size_t i = 0; i < profile->call_count; i++) {
		const struct profile_call *call = &profile->calls[i];
		struct pending *of = &pending[profile->threads[call->thread].process];

		of->count += call->start_ns > of->last_ns && is_launch(profile, call);
	}
	return 0;
}

static bool is_cut_off(const struct job_parts *parts, const struct job_rank *rank)
{
	return !parts->profile->processes[rank->process].sealed_ns;
}

/* Of ranks that were cut off, and alike up to then: some have launches that never ended, and others have none. */
static int tell_hang(struct job_parts *parts, const struct pending *pending)
{
	struct names waiting = {"", 0}, idle = {"", 0};
	const struct job *job = parts->job;

	for (uint32_t i = 0; i < job->rank_count; i++) {
		const struct job_rank *rank = &job->ranks[i];

		if (is_cut_off(parts, rank) && rank->has_waits)
			name_rank(pending[rank->process].count ? &waiting : &idle, parts, i);
	}
	if (!waiting.count)
		return 0;
	if (!idle.count)
		return sentences_add(
			&parts->job->problems,
			"the recording was cut off while launches of all ranks had not "
			"ended, as they do where a collective never ends");
	return sentences_add(&parts->job->problems,
			     "launches of %s had not ended when the recording was cut off, and %s "
			     "had launched nothing more: a collective may wait for it for ever",
			     waiting.text, idle.text);
}

/* The ranks that ended fewer collectives than others like them. */
static int tell_counts(struct job_parts *parts)
{
	const struct job *job = parts->job;
	const struct collectives *all = parts->collectives;
	struct names behind = {"", 0};
	size_t least = SIZE_MAX, most = 0;

	for (size_t i = 0; i < all->rank_count; i++) {
		if (!all->ranks[i].is_matched)
			continue;
		least = all->ranks[i].count < least ? all->ranks[i].count : least;
		most = all->ranks[i].count > most ? all->ranks[i].count : most;
	}
	for (uint32_t i = 0; i < job->rank_count; i++)
		if (job->ranks[i].has_waits &&
		    all->ranks[job->ranks[i].collective_rank].count == least)
			name_rank(&behind, parts, i);
	return least < most
		       ? sentences_add(&parts->job->problems,
				       "%s ended %s collectives, others %s, until the recording "
				       "was cut off",
				       behind.text, format_count(least).text,
				       format_count(most).text)
		       : 0;
}

static int find_hang(struct job_parts *parts)
{
	const struct job *job = parts->job;
	struct pending *pending;
	bool is_any = false;
	int rc;

	for (size_t i = 0; i < job->rank_count; i++)
		is_any |= is_cut_off(parts, &job->ranks[i]) && job->ranks[i].has_waits;
	if (!is_any)
		return 0;
	rc = find_pending(&pending, parts->profile);
	if (rc == 0)
		rc = tell_counts(parts);
	if (rc == 0)
		rc = tell_hang(parts, pending);
	free(pending);
	return rc;
}

int job_problems_find(struct job_parts *parts)
{
	int rc = find_missing(parts);

	if (rc == 0)
		rc = find_order(parts);
	return rc < 0 ? rc : find_hang(parts);
}
