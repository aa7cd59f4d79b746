/* job_times.c - how long each rank computed, communicated, waited and was idle. */
#include <errno.h>
#include <string.h>

#include "analysis/job/job_parts.h"
#include "base/ns.h"
#include "base/spans.h"
#include "base/sums.h"

static int64_t length_ns(const struct spans *spans)
{
	const struct span *last = spans->count ? &spans->items[spans->count - 1] : NULL;

	return last ? last->before_ns + (last->end_ns - last->start_ns) : 0;
}

int job_gather(struct spans *out, const struct job_parts *parts, size_t rank, uint32_t works)
{
	int rc = 0;

	*out = (struct spans){0};
	for (size_t i = parts->first[rank]; i < parts->first[rank + 1] && rc == 0; i++) {
		const struct profile_op *op = &parts->profile->ops[parts->ops[i]];
		int64_t start_ns = op->start_ns, end_ns = op->end_ns;

		job_clip(parts->profile, &start_ns, &end_ns);
		if (works >> parts->communication.works[parts->ops[i]] & 1)
			rc = spans_add(out, start_ns, end_ns);
	}
	spans_seal(out);
	return rc;
}

static int measure_works(int64_t *out_ns, const struct job_parts *parts, size_t rank,
			 uint32_t works)
{
	struct spans spans;
	int rc = job_gather(&spans, parts, rank, works);

	*out_ns = length_ns(&spans);
	spans_free(&spans);
	return rc;
}

#define BIT(work) (1u << (work))
#define COMMUNICATION (BIT(WORK_KERNEL) | BIT(WORK_PEER) | BIT(WORK_STAGED))

/* The waits of a rank's collectives: of all of them, and less computation. */
static int measure_waits(struct job_times *times, const struct job_parts *parts, size_t rank,
			 const struct spans *computation)
{
	const struct collectives *all = parts->collectives;
	const struct collective_rank *own;
	struct spans waits = {0};
	int rc = 0;

	if (parts->job->ranks[rank].collective_rank == PROFILE_NONE)
		return 0;
	own = &all->ranks[parts->job->ranks[rank].collective_rank];
	for (size_t i = own->first; i < own->first + own->count && rc == 0; i++) {
		int64_t start_ns = all->items[i].start_ns,
			end_ns = start_ns + all->items[i].wait_ns;

		job_clip(parts->profile, &start_ns, &end_ns);
		rc = spans_add(&waits, start_ns, end_ns);
	}
	spans_seal(&waits);
	times->wait_ns = length_ns(&waits);
	if (rc == 0)
		rc = spans_subtract(&waits, computation);
	times->exposed_wait_ns = length_ns(&waits);
	spans_free(&waits);
	return rc;
}

static int measure_communication(struct job_times *times, const struct job_parts *parts,
				 size_t rank)
{
	struct spans computation, communication;
	int rc = job_gather(&computation, parts, rank, BIT(WORK_COMPUTATION)),
	    also_rc = job_gather(&communication, parts, rank, COMMUNICATION);

	times->computation_ns = length_ns(&computation);
	times->communication_ns = length_ns(&communication);
	rc = rc < 0 ? rc : also_rc;
	if (rc == 0)
		rc = spans_subtract(&communication, &computation);
	times->exposed_ns = length_ns(&communication);
	times->overlapped_ns = times->communication_ns - times->exposed_ns;
	if (rc == 0)
		rc = measure_waits(times, parts, rank, &computation);
	spans_free(&computation);
	spans_free(&communication);
	return rc;
}

/* From the first operation to the last end, and what of it was idle. */
static int measure_idle(struct job_rank *rank, const struct job_parts *parts, size_t index)
{
	struct job_times *times = &rank->times;
	int rc = measure_works(&times->busy_ns, parts, index, UINT32_MAX);

	rank->first_ns = INT64_MAX;
	rank->last_ns = INT64_MIN;
	for (size_t i = parts->first[index]; i < parts->first[index + 1]; i++) {
		const struct profile_op *op = &parts->profile->ops[parts->ops[i]];

		rank->first_ns = min_ns(rank->first_ns, op->start_ns);
		rank->last_ns = max_ns(rank->last_ns, op->end_ns);
	}
	job_clip(parts->profile, &rank->first_ns, &rank->last_ns);
	if (rank->has_causes) /* idle time up to the ends of what was selected counts */
		(void)timeline_span(parts->profile, rank->device, &rank->first_ns, &rank->last_ns);
	times->wall_ns = rank->last_ns - rank->first_ns;
	times->idle_ns = times->wall_ns - times->busy_ns;
	if (rank->has_causes)
		memcpy(times->by_cause_ns, parts->gaps->devices[rank->device].by_cause_ns,
		       sizeof(times->by_cause_ns));
	return rc;
}

static int measure_rank(struct job_parts *parts, size_t index)
{
	struct job_rank *rank = &parts->job->ranks[index];
	struct job_times *times = &rank->times;
	int rc = measure_idle(rank, parts, index);

	if (rc == 0)
		rc = measure_communication(times, parts, index);
	if (rc == 0)
		rc = measure_works(&times->kernel_communication_ns, parts, index, BIT(WORK_KERNEL));
	if (rc == 0)
		rc = measure_works(&times->peer_copy_ns, parts, index, BIT(WORK_PEER));
	if (rc == 0)
		rc = measure_works(&times->host_copy_ns, parts, index, BIT(WORK_STAGED));
	return rc;
}

void job_times_add(struct job_times *sum, const struct job_times *times)
{
#define ADD_TIME(member, meaning) sum_add_ns(&sum->member, times->member);
	JOB_TIMES(ADD_TIME, ADD_TIME)
#undef ADD_TIME
	for (int cause = 0; cause < GAP_CAUSE_COUNT; cause++)
		sum_add_ns(&sum->by_cause_ns[cause], times->by_cause_ns[cause]);
}

int job_times_measure(struct job_parts *parts)
{
	struct job *job = parts->job;
	int rc = 0;

	job->first_ns = INT64_MAX;
	job->last_ns = INT64_MIN;
	for (size_t i = 0; i < job->rank_count && rc == 0; i++) {
		rc = measure_rank(parts, i);
		job_times_add(&job->all, &job->ranks[i].times);
		job->first_ns = min_ns(job->first_ns, job->ranks[i].first_ns);
		job->last_ns = max_ns(job->last_ns, job->ranks[i].last_ns);
	}
	return rc;
}
