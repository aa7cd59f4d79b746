/*
 * divided_run.h - the steps of one GPU (divided_step.h), re-simulated as those of one of several.
 *
 * How much shorter a kernel gets the recording does not tell (divided_kernel_share).  Known to data_parallel.c only.
 */
#ifndef ROOFLINE_DIVIDED_RUN_H
#define ROOFLINE_DIVIDED_RUN_H

#include "whatif/all_reduce.h"
#include "whatif/divided_step.h"

/* What fewer samples make fewer of. */
enum divided { DIVIDED_UNKNOWN, DIVIDED_BLOCKS, DIVIDED_THREADS };

/* Of one simulation. */
struct divided_request {
	uint64_t gpus;
	bool is_weak;	/* each has as many samples as the one had */
	uint64_t parts; /* of the all-reduce; 1: one after the other */
	double bytes;
	enum divided divided;
	enum assumed_end end;
	const struct reduce_times *times;
};

/* What is left of a kernel's time with an N-th of the samples.  By threads an N-th; by blocks as many waves as the blocks
 * that are left; where nobody knows at the ends these, and else one wave at least of a launch with several, and an N-th of
 * one that fits at once and fills all SMs: it was made for the GPU, and loops over its data.  One that leaves SMs empty
 * stays as long. */
double divided_kernel_share(const struct profile_device *device,
			    const struct profile_signature *launch,
			    const struct divided_request *request);

/* What a usual step takes then.  Returns 0, -ENOMEM or -EDEADLK. */
int divided_step_simulate(double *out_ns, const struct divided_step *step,
			  const struct divided_request *request);

#endif
