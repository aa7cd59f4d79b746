/*
 * job_run.h - a recording as the tasks of a job: its calls and operations, what they wait for, which collectives meet.
 *
 * What waits for what is the model's (replay/model.h), for all GPUs and processes of the recording; that ranks meet in
 * collectives is what analysis/time/collectives.h has matched.  Run without a change it gives every recorded time again.
 * What recording added is in it: whatif/job_calls.h takes it out.
 */
#ifndef ROOFLINE_JOB_RUN_H
#define ROOFLINE_JOB_RUN_H

#include "analysis/job/communication.h"
#include "analysis/time/collectives.h"
#include "replay/job/tasks.h"
#include "replay/model.h"

struct job_run {
	const struct model *model;	       /* borrowed */
	const struct collectives *collectives; /* borrowed; NULL: none are known */
	struct communication communication;    /* owned */
	/* The first tasks are the operations, as ops[], and then the calls, as calls[].  A call that waits has ended with a
	 * task of its own. */
	struct tasks tasks;
	int64_t origin_ns;  /* of the tasks' times: when the first call or operation began */
	uint32_t *returned; /* owned; by call: the task that its end is */
};

/* shares_sms: whether kernels of communication take SMs from computation beside them.  Returns 0 or -ENOMEM; the caller
 * frees with job_run_free, also after a failure. */
int job_run_open(struct job_run *run, const struct model *model,
		 const struct collectives *collectives, bool shares_sms);
void job_run_free(struct job_run *run);

static inline uint32_t job_run_task_of_call(const struct job_run *run, size_t call)
{
	return (uint32_t)(run->model->profile->op_count + call);
}

/* A number for each GPU of each process. */
static inline uint32_t job_run_rank_of(const struct profile *profile, const struct profile_op *op)
{
	return (uint32_t)(profile_op_process(profile, op) * profile->device_count +
			  profile_op_device(profile, op));
}

#endif
