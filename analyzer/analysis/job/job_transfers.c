/* job_transfers.c - who sends how much to whom. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/job/job_parts.h"
#include "base/sums.h"

static int compare_ends(const void *left, const void *right)
{
	const struct job_transfer *a = left, *b = right;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return a->is_through_host - b->is_through_host;
}

static int compare_bytes(const void *left, const void *right)
{
	const struct job_transfer *a = left, *b = right;

	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return compare_ends(left, right);
}

static struct job_transfer peer_copy(const struct job_parts *parts, const struct profile_op *op)
{
	const struct profile_copy *copy = &parts->profile->copies[op->detail];
	uint32_t process = profile_op_process(parts->profile, op);

	return (struct job_transfer){.from = job_rank_of_peer(parts, process, copy->src_device),
				     .to = job_rank_of_peer(parts, process, copy->dst_device),
				     .count = 1,
				     .bytes = copy->bytes,
				     .time_ns = op->end_ns - op->start_ns};
}

static struct job_transfer staged_copy(const struct job_parts *parts,
				       const struct staged_copy *staged)
{
	const struct profile_op *out = &parts->profile->ops[staged->out],
				*in = &parts->profile->ops[staged->in];

	return (struct job_transfer){.from = job_rank_of(parts, out),
				     .to = job_rank_of(parts, in),
				     .is_through_host = true,
				     .count = 1,
				     .bytes = parts->profile->copies[in->detail].bytes,
				     .time_ns = out->end_ns - out->start_ns + in->end_ns -
						in->start_ns};
}

/* Adds up those between the same ranks; count: how many there are, and how many remain. */
static void merge(struct job_transfer *items, size_t *count)
{
	size_t kept = 0;

	qsort(items, *count, sizeof(*items), compare_ends);
	for (size_t i = 0; i < *count; i++) {
		if (kept == 0 || compare_ends(&items[kept - 1], &items[i]) != 0) {
			items[kept++] = items[i];
			continue;
		}
		items[kept - 1].count++;
		sum_add_count(&items[kept - 1].bytes, items[i].bytes);
		sum_add_ns(&items[kept - 1].time_ns, items[i].time_ns);
	}
	*count = kept;
	qsort(items, kept, sizeof(*items), compare_bytes);
}

int job_transfers_find(struct job_parts *parts)
{
	const struct communication *communication = &parts->communication;
	struct job *job = parts->job;
	size_t room = communication->staged_count + communication->unknown_count;

	for (size_t i = 0; i < parts->profile->op_count; i++)
		room += communication->works[i] == WORK_PEER;
	job->transfers = calloc(room + 1, sizeof(*job->transfers));
	if (!job->transfers)
		return -ENOMEM;
	for (size_t i = 0; i < parts->profile->op_count; i++)
		if (communication->works[i] == WORK_PEER)
			job->transfers[job->transfer_count++] =
				peer_copy(parts, &parts->profile->ops[i]);
	for (size_t i = 0; i < communication->staged_count; i++)
		job->transfers[job->transfer_count++] =
			staged_copy(parts, &communication->staged[i]);
	for (size_t i = 0; i < communication->unknown_count; i++) {
		struct job_transfer *unknown = &job->transfers[job->transfer_count++];

		*unknown = staged_copy(parts, &communication->unknown[i]);
		unknown->from = unknown->to = PROFILE_NONE;
		job->unknown_transfer_count++;
	}
	merge(job->transfers, &job->transfer_count);
	return 0;
}
