/* job_ranks.c - the ranks of a job, and which operation is of which. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/job/job_parts.h"
#include "base/search.h"

/* ---- streams by rank ---- */

struct stream_place {
	uint32_t process, device, stream;
};

static int compare_streams(const void *left, const void *right)
{
	const struct stream_place *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return (a->stream > b->stream) - (a->stream < b->stream);
}

/* Those that operations ran on, by process and device. */
static int find_streams(struct stream_place **out, size_t *count, const struct profile *profile)
{
	bool *is_used = calloc(profile->stream_count + 1, sizeof(*is_used));

	*count = 0;
	*out = calloc(profile->stream_count + 1, sizeof(**out));
	if (!is_used || !*out) {
		free(is_used);
		return -ENOMEM;
	}
	for (size_t i = 0; i < profile->op_count; i++)
		is_used[profile->ops[i].stream] = true;
	for (uint32_t i = 0; i < profile->stream_count; i++)
		if (is_used[i])
			(*out)[(*count)++] = (struct stream_place){profile->streams[i].process,
								   profile->streams[i].device, i};
	qsort(*out, *count, sizeof(**out), compare_streams);
	free(is_used);
	return 0;
}

static bool is_next(const struct stream_place *streams, size_t i)
{
	return i == 0 || streams[i].process != streams[i - 1].process ||
	       streams[i].device != streams[i - 1].device;
}

/* ---- the order of ranks ---- */

struct sorted_rank {
	int64_t number; /* the launcher's, -1: none */
	uint32_t process, device;
};

/* Those without a number come last. */
static int compare_ranks(const void *left, const void *right)
{
	const struct sorted_rank *a = left, *b = right;

	if (a->number != b->number)
		return (uint64_t)a->number < (uint64_t)b->number ? -1 : 1;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return (a->device > b->device) - (a->device < b->device);
}

static int compare_places(const void *left, const void *right)
{
	const struct job_place *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return (a->device > b->device) - (a->device < b->device);
}

/* Fills ranks[] and places[]. */
static int order(struct job_parts *parts, const struct stream_place *streams, size_t count)
{
	struct job *job = parts->job;
	struct sorted_rank *sorted = calloc(count + 1, sizeof(*sorted));
	size_t found = 0;

	job->ranks = calloc(count + 1, sizeof(*job->ranks));
	parts->places = calloc(count + 1, sizeof(*parts->places));
	if (!sorted || !job->ranks || !parts->places) {
		free(sorted);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		if (is_next(streams, i))
			sorted[found++] = (struct sorted_rank){
				parts->profile->processes[streams[i].process].rank,
				streams[i].process, streams[i].device};
	qsort(sorted, found, sizeof(*sorted), compare_ranks);
	for (uint32_t i = 0; i < found; i++) {
		job->ranks[i] = (struct job_rank){.process = sorted[i].process,
						  .device = sorted[i].device,
						  .collective_rank = PROFILE_NONE};
		parts->places[i] = (struct job_place){sorted[i].process, sorted[i].device, i};
	}
	job->rank_count = found;
	qsort(parts->places, found, sizeof(*parts->places), compare_places);
	for (size_t i = 0; i < found; i++)
		job->ranks[parts->places[i].rank].is_alone =
			(i == 0 || parts->places[i - 1].process != parts->places[i].process) &&
			(i + 1 == found ||
			 parts->places[i + 1].process != parts->places[i].process);
	free(sorted);
	return 0;
}

static bool is_place_reached(size_t index, const void *context)
{
	const struct job_place *const *pair = context;

	return compare_places(&pair[0][index], pair[1]) >= 0;
}

uint32_t job_rank_at(const struct job_parts *parts, uint32_t process, uint32_t device)
{
	const struct job_place wanted = {process, device, 0};
	const struct job_place *pair[] = {parts->places, &wanted};
	size_t found = search_first(0, parts->job->rank_count, is_place_reached, pair);

	return found < parts->job->rank_count && compare_places(&parts->places[found], &wanted) == 0
		       ? parts->places[found].rank
		       : PROFILE_NONE;
}

uint32_t job_rank_of_peer(const struct job_parts *parts, uint32_t process, uint32_t device)
{
	uint32_t rank = job_rank_at(parts, process, device);

	return rank != PROFILE_NONE || device >= parts->profile->device_count
		       ? rank
		       : parts->only_on_device[device];
}

/* ---- what is of a rank ---- */

#define SEVERAL (PROFILE_NONE - 1)

static int look_at_devices(struct job_parts *parts)
{
	struct job *job = parts->job;

	parts->only_on_device =
		calloc(parts->profile->device_count + 1, sizeof(*parts->only_on_device));
	if (!parts->only_on_device)
		return -ENOMEM;
	memset(parts->only_on_device, 0xff,
	       parts->profile->device_count * sizeof(*parts->only_on_device));
	for (uint32_t i = 0; i < job->rank_count; i++) {
		uint32_t *only = &parts->only_on_device[job->ranks[i].device];

		*only = *only == PROFILE_NONE ? i : SEVERAL;
	}
	for (uint32_t i = 0; i < job->rank_count; i++)
		job->ranks[i].has_causes = parts->only_on_device[job->ranks[i].device] == i;
	for (size_t i = 0; i < parts->profile->device_count; i++)
		if (parts->only_on_device[i] == SEVERAL)
			parts->only_on_device[i] = PROFILE_NONE;
	return 0;
}

static int look_at_collectives(struct job_parts *parts)
{
	const struct collectives *all = parts->collectives;

	parts->rank_of_collective = calloc(all->rank_count + 1, sizeof(*parts->rank_of_collective));
	if (!parts->rank_of_collective)
		return -ENOMEM;
	for (uint32_t i = 0; i < all->rank_count; i++) {
		/* By its stream: damaged recordings have operations on other devices than that of theirs. */
		uint32_t rank =
			job_rank_of(parts,
				    &parts->profile->ops[all->items[all->ranks[i].first].op]);

		parts->rank_of_collective[i] = rank;
		parts->job->ranks[rank].collective_rank = i;
		parts->job->ranks[rank].has_waits = all->ranks[i].is_matched;
	}
	return 0;
}

/* Operations by rank, each rank's as they started. */
static int lay_out(struct job_parts *parts)
{
	const struct profile *profile = parts->profile;
	size_t rank_count = parts->job->rank_count;
	size_t *next = calloc(rank_count + 1, sizeof(*next));

	parts->first = calloc(rank_count + 1, sizeof(*parts->first));
	parts->ops = calloc(profile->op_count + 1, sizeof(*parts->ops));
	if (!next || !parts->first || !parts->ops) {
		free(next);
		return -ENOMEM;
	}
	for (size_t i = 0; i < profile->op_count; i++)
		parts->first[job_rank_of(parts, &profile->ops[i]) + 1]++;
	for (size_t i = 0; i < rank_count; i++) {
		parts->first[i + 1] += parts->first[i];
		next[i] = parts->first[i];
	}
	for (size_t i = 0; i < profile->op_count; i++)
		parts->ops[next[job_rank_of(parts, &profile->ops[i])]++] = (uint32_t)i;
	free(next);
	return 0;
}

static int name_streams(struct job_parts *parts, const struct stream_place *streams, size_t count)
{
	parts->rank_of_stream =
		calloc(parts->profile->stream_count + 1, sizeof(*parts->rank_of_stream));
	if (!parts->rank_of_stream)
		return -ENOMEM;
	memset(parts->rank_of_stream, 0xff,
	       parts->profile->stream_count * sizeof(*parts->rank_of_stream));
	for (size_t i = 0; i < count; i++)
		parts->rank_of_stream[streams[i].stream] =
			job_rank_at(parts, streams[i].process, streams[i].device);
	return 0;
}

/* ---- whether they are a job ---- */

/* Programs that merely ran one after another on one GPU are none. */
static bool is_job(const struct job_parts *parts)
{
	const struct job *job = parts->job;
	int64_t number = -1;

	for (size_t i = 0; i < job->rank_count; i++) {
		int64_t other = parts->profile->processes[job->ranks[i].process].rank;

		if (job->ranks[i].device != job->ranks[0].device || job->ranks[i].has_waits)
			return true;
		if (other >= 0 && number >= 0 && other != number)
			return true;
		number = other;
	}
	return false;
}

int job_ranks_find(struct job_parts *parts)
{
	struct stream_place *streams;
	size_t count;
	int rc = find_streams(&streams, &count, parts->profile);

	if (rc == 0)
		rc = order(parts, streams, count);
	if (rc == 0)
		rc = name_streams(parts, streams, count);
	if (rc == 0)
		rc = look_at_devices(parts);
	if (rc == 0)
		rc = look_at_collectives(parts);
	if (rc == 0 && !parts->may_be_no_job && !is_job(parts))
		parts->job->rank_count = 0;
	if (rc == 0 && parts->job->rank_count)
		rc = lay_out(parts);
	free(streams);
	return rc;
}
