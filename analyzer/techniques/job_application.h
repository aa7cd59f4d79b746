/*
 * job_application.h - techniques applied to a whole job: what they see of it, and what they change.
 *
 * What one rank communicates others wait for, so that nothing of it can be changed on one GPU alone: these techniques
 * change the tasks of all ranks (replay/job/).
 */
#ifndef ROOFLINE_JOB_APPLICATION_H
#define ROOFLINE_JOB_APPLICATION_H

#include "replay/job/job_run.h"
#include "techniques/application.h"

struct job_application {
	const struct recorded_run *run;
	struct job_run job; /* owned; as the techniques before left it */
	bool *is_changed;   /* owned; by operation */
	bool *is_gone;	    /* owned; likewise: it takes no time, nor is it waited for */
	enum assumed_end end;
	uint64_t number; /* of ARGUMENT_NUMBER */
	/* As recorded; 0: there is none.  The kernels' is owned, by kernel. */
	double *shortest_kernels_ns, shortest_copy_ns;
	double setup_ns; /* what it costs once, on the rank where that takes longest */
	/* Owned; by stream: what the host takes for a kernel of communication at least; 0: it launches none. */
	double *least_host_ns;
	uint32_t *
		messages; /* owned; by operation: of what NCCL was asked for; PROFILE_NONE: not known */
	struct effect *effect;
	int rc; /* 0 or -ENOMEM */
};

/* What the operation is for. */
static inline enum job_work job_application_work(const struct job_application *application,
						 size_t op)
{
	return (enum job_work)application->job.communication.works[op];
}

/* Fills in what takes the least time; before anything changes.  Returns 0 or -ENOMEM. */
int job_application_find_least(struct job_application *application);

/* Kernels that begin as usual, in place of the host's own launch of each; ns. */
double job_application_gap_ns(const struct job_application *application, uint32_t device);

/* What each part takes of a communication in so many: as collectives of their bytes were measured to, else as long as its
 * share of the bytes and what the shortest takes that was measured on this machine or is recorded; ns. */
double job_application_part_length_ns(const struct job_application *application, size_t op,
				      uint64_t count);

/* What the host takes to launch one more like it; ns. */
double job_application_host_ns(const struct job_application *application, size_t op);

#endif
