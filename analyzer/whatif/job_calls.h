/*
 * job_calls.h - what techniques make of calls (replay/change.h), of all ranks of a job: their calls and operations are
 * tasks (replay/job/).
 *
 * A call that is gone takes no time and waits for nothing.  What becomes a graph starts as a graph does, its operations
 * follow one another as nodes do, and those of the calls in it wait for no call of their own; collectives among them meet
 * as they did.  Known to what_if_job.c only.
 */
#ifndef ROOFLINE_JOB_CALLS_H
#define ROOFLINE_JOB_CALLS_H

#include "techniques/job_application.h"

/* Takes out what recording added: what takes the place of calls was measured without. */
void job_calls_subtract_recording(struct job_run *job, const struct costs *costs);

/* Only of what a technique of calls changes: calls that are dropped, and graphs with their nodes.  hands_over: nothing is
 * changed, as other threads or processes go on after the waits that would be gone.  Returns 0 or -ENOMEM. */
int job_calls_change(struct job_application *application, const struct change *change,
		     bool *hands_over);

#endif
