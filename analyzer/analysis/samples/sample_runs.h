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
	size_t first, last; /* samples[], both inside */
	uint64_t dispatch_count, block_count;
	double dram_bytes; /* read and written, of whole samples */
};

struct sample_runs {
	struct sample_run *items; /* owned; in order of time */
	size_t count, capacity;
	uint64_t single_block_count; /* dispatches outside runs: kernels of one block */
};

/* Of a device whose SM activity was sampled; none otherwise.  0 or -ENOMEM; sample_runs_free in either
 * case. */
int sample_runs_find(struct sample_runs *runs, const struct profile *profile, uint32_t device);
void sample_runs_free(struct sample_runs *runs);

#endif
