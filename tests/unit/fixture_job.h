/* fixture_job.h - several ranks, each on the GPU of its number, as one job. */
#ifndef ROOFLINE_FIXTURE_JOB_H
#define ROOFLINE_FIXTURE_JOB_H

#include "analysis/job/job.h"
#include "profile_builder.h"

#define JOB_REDUCE "ncclDevKernel_AllReduce_Sum_f32_RING_LL"

struct built_job {
	struct builder *b;
	struct timeline *timeline;
	struct gap_analysis *gaps;
	struct collectives *collectives;
	struct job *job;
};

struct built_job job_of(struct builder *b);
void job_done(struct built_job *it);

/* A kernel and a copy of a process, which no call launched. */
struct profile_op *job_run(struct builder *b, uint32_t process, const char *name, int64_t start_ns,
			   int64_t end_ns);
void job_copy(struct builder *b, uint32_t process, struct profile_copy copy, int64_t start_ns,
	      int64_t end_ns);

#endif
