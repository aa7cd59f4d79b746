/*
 * sample_runs.h - when the SMs worked: runs of work that samples show, whoever launched it.
 *
 * A run begins when more than one SM becomes active and ends when no more than one is: what the GPU
 * runs to launch other work (the device runtime's own kernels, a scheduler of one block) keeps one SM
 * active and is no run; nor is a kernel of one block, which looks the same.  Two kernels
 * with a dip between them, the second of which was dispatched there, are two runs.  First and last
 * samples are divided by how active they are, so that times are good to a fraction of a sample.
 * Knows nothing of operations.  Pure.
 */
#ifndef ROOFLINE_SAMPLE_RUNS_H
#define ROOFLINE_SAMPLE_RUNS_H

#include "trace/profile.h"

struct sample_run {
	int64_t start_ns, end_ns;
	size_t first, last; /* of the profile's samples, both inside */
	uint64_t first_length_ns;
	uint64_t dispatch_count, block_count;
	double dram_bytes; /* read and written, of whole samples */
};

/* Takes one run.  A negative result ends the search. */
typedef int (*sample_run_each)(const struct sample_run *run, void *context);

/* Calls each() for every run of a device whose SM activity was sampled, in order of time; there are none otherwise.  Nothing
 * is kept of them.  single_block_count: dispatches outside runs, kernels of one block.  Returns 0, what each() returned,
 * or a negative errno. */
int sample_runs_find(const struct profile *profile, uint32_t device, sample_run_each each,
		     void *context, uint64_t *single_block_count);

#endif
