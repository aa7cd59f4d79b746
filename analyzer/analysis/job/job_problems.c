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

#define NAMED_MOST 8

void job_name_add(struct job_names *names, const char *what)
{
	size_t used = strlen(names->text);

	if (names->count++ < NAMED_MOST)
		snprintf(names->text + used, sizeof(names->text) - used, "%s%s", used ? ", " : "",
			 what);
	else if (names->count == NAMED_MOST + 1)
		snprintf(names->text + used, sizeof(names->text) - used, " and others");
}

void job_name_add_rank(struct job_names *names, const struct job_parts *parts, uint32_t rank)
{
	char text[256];

	job_name_rank(text, sizeof(text), parts->profile, &parts->job->ranks[rank]);
	job_name_add(names, text);
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
	struct job_names names = {"", 0};
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
			job_name_add(&names, number);
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
	const char *kernels[2];
	char names[2][256];

	if (!parts->collectives->mismatch_count)
		return 0;
	for (size_t i = 0; i < 2; i++) {
		uint32_t rank = parts->rank_of_collective[found->ranks[i]];

		job_name_rank(names[i], sizeof(names[i]), parts->profile, &parts->job->ranks[rank]);
		kernels[i] =
			kernel_label(parts->profile->kernel_labels,
				     parts->profile->kernel_names[found->kernels[i]], LABEL_WIDE);
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

/* Ranks whose collectives are alike (collectives.h): members[first] to members[first + count - 1]. */
struct group {
	const uint32_t *members; /* job->ranks[] */
	size_t count;
};

/* Of ranks that were cut off, and alike up to then: some have launches that never ended, and others have none. */
static int tell_hang(struct job_parts *parts, struct group group, const struct pending *pending)
{
	struct job_names waiting = {"", 0}, idle = {"", 0};

	for (size_t i = 0; i < group.count; i++) {
		const struct job_rank *rank = &parts->job->ranks[group.members[i]];

		if (is_cut_off(parts, rank))
			job_name_add_rank(pending[rank->process].count ? &waiting : &idle, parts,
					  group.members[i]);
	}
	if (!waiting.count)
		return 0;
	if (!idle.count)
		return sentences_add(&parts->job->problems,
				     "the recording was cut off while launches of %s had not "
				     "ended, as they do where a collective never ends",
				     waiting.text);
	return sentences_add(&parts->job->problems,
			     "launches of %s had not ended when the recording was cut off, and %s "
			     "had launched nothing more: a collective may wait for it for ever",
			     waiting.text, idle.text);
}

static const struct collective_rank *collectives_of(const struct job_parts *parts, uint32_t rank)
{
	return &parts->collectives->ranks[parts->job->ranks[rank].collective_rank];
}

/* The ranks that ended fewer collectives than others like them. */
static int tell_counts(struct job_parts *parts, struct group group)
{
	struct job_names behind = {"", 0};
	size_t least = SIZE_MAX, most = 0;

	for (size_t i = 0; i < group.count; i++) {
		size_t count = collectives_of(parts, group.members[i])->count;

		least = count < least ? count : least;
		most = count > most ? count : most;
	}
	for (size_t i = 0; i < group.count; i++)
		if (collectives_of(parts, group.members[i])->count == least)
			job_name_add_rank(&behind, parts, group.members[i]);
	return least < most
		       ? sentences_add(&parts->job->problems,
				       "%s ended %s collectives, others %s, until the recording "
				       "was cut off",
				       behind.text, format_count(least).text,
				       format_count(most).text)
		       : 0;
}

static int look_at_group(struct job_parts *parts, struct group group, const struct pending *pending)
{
	bool is_any = false;
	int rc;

	for (size_t i = 0; i < group.count; i++)
		is_any |= is_cut_off(parts, &parts->job->ranks[group.members[i]]);
	if (!is_any)
		return 0;
	rc = tell_counts(parts, group);
	return rc < 0 ? rc : tell_hang(parts, group, pending);
}

struct member {
	uint32_t group, rank;
};

static int compare_members(const void *left, const void *right)
{
	const struct member *a = left, *b = right;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

static int look_at_groups(struct job_parts *parts, struct member *members, uint32_t *ranks,
			  const struct pending *pending)
{
	const struct job *job = parts->job;
	size_t count = 0;
	int rc = 0;

	for (uint32_t i = 0; i < job->rank_count; i++)
		if (job->ranks[i].has_waits)
			members[count++] = (struct member){collectives_of(parts, i)->group, i};
	qsort(members, count, sizeof(*members), compare_members);
	for (size_t i = 0; i < count; i++)
		ranks[i] = members[i].rank;
	for (size_t first = 0, next; first < count && rc == 0; first = next) {
		next = first;
		while (next < count && members[next].group == members[first].group)
			next++;
		rc = look_at_group(parts, (struct group){ranks + first, next - first}, pending);
	}
	return rc;
}

static int find_hang(struct job_parts *parts)
{
	size_t room = parts->job->rank_count + 1;
	struct member *members = calloc(room, sizeof(*members));
	uint32_t *ranks = calloc(room, sizeof(*ranks));
	struct pending *pending = NULL;
	int rc = members && ranks ? find_pending(&pending, parts->profile) : -ENOMEM;

	if (rc == 0)
		rc = look_at_groups(parts, members, ranks, pending);
	free(pending);
	free(ranks);
	free(members);
	return rc;
}

int job_problems_find(struct job_parts *parts)
{
	bool is_told = false;
	int rc = job_recordings_find(parts);

	if (rc == 0)
		rc = find_missing(parts);
	if (rc == 0)
		rc = job_communicators_find(parts, &is_told);
	if (rc < 0 || is_told)
		return rc;
	rc = find_order(parts);
	return rc < 0 ? rc : find_hang(parts);
}
