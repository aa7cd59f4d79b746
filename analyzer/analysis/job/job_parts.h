/*
 * job_parts.h - what the parts of job.c hand each other: which operation is of which rank, and what it is for.
 */
#ifndef ROOFLINE_JOB_PARTS_H
#define ROOFLINE_JOB_PARTS_H

#include "analysis/job/communication.h"
#include "analysis/job/job.h"
#include "base/ns.h"
#include "base/spans.h"

struct job_parts {
	const struct profile *profile;
	const struct gap_analysis *gaps;
	const struct collectives *collectives;
	struct job *job;
	bool may_be_no_job;	  /* ranks are found in any recording */
	uint32_t *rank_of_stream; /* ranks[] by streams[]; PROFILE_NONE: it ran nothing */
	struct job_place *places; /* of ranks[], sorted */
	uint32_t *only_on_device; /* ranks[] by devices[]; PROFILE_NONE: none, or several */
	struct communication communication;
	/* The operations of ranks[i] are ops[first[i]] to ops[first[i + 1] - 1], by start_ns. */
	uint32_t *ops;
	size_t *first;
	uint32_t *rank_of_collective; /* ranks[] by collectives->ranks[] */
};

struct job_place {
	uint32_t process, device, rank;
};

/* What lies in the selected time of [*start_ns, *end_ns), which may be nothing. */
static inline void job_clip(const struct profile *profile, int64_t *start_ns, int64_t *end_ns)
{
	if (!profile->window.is_part)
		return;
	*start_ns = max_ns(*start_ns, profile->window.from_ns);
	*end_ns = min_ns(*end_ns, profile->window.to_ns);
}

static inline uint32_t job_rank_of(const struct job_parts *parts, const struct profile_op *op)
{
	return parts->rank_of_stream[op->stream];
}

/* PROFILE_NONE where the process ran nothing on that GPU. */
uint32_t job_rank_at(const struct job_parts *parts, uint32_t process, uint32_t device);

/* "rank 1, rank 2 and others": as many as fit a sentence. */
struct job_names {
	char text[320];
	size_t count;
};

void job_name_add(struct job_names *names, const char *what);
void job_name_add_rank(struct job_names *names, const struct job_parts *parts, uint32_t rank);

/* The rank that a peer copy goes to or comes from: the process's own on that GPU, or the only one on it. */
uint32_t job_rank_of_peer(const struct job_parts *parts, uint32_t process, uint32_t device);

/* The moments of a rank's operations of those works, bits 1 << enum job_work; the caller frees them in any case. */
int job_gather(struct spans *out, const struct job_parts *parts, size_t rank, uint32_t works);

/* Each fills its part of parts->job.  They fail with -ENOMEM only. */
int job_ranks_find(struct job_parts *parts);	/* ranks[] and all of parts but communication */
int job_times_measure(struct job_parts *parts); /* job_rank.times */
int job_late_find(struct job_parts *parts);	/* job_rank.late, collectives[] */
int job_transfers_find(struct job_parts *parts);
int job_path_find(struct job_parts *parts);
int job_problems_find(struct job_parts *parts);

/* Adds to job->problems what was damaged, and that ranks are of several runs. */
int job_recordings_find(struct job_parts *parts);

/* Adds to job->problems where ranks of a communicator ask for different things; *is_any: they do. */
int job_communicators_find(struct job_parts *parts, bool *is_any);

#endif
