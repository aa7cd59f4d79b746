/*
 * balance_ranks.h - kernels that all ranks of a job launch equally often, and that take unequally long on them.
 *
 * The k-th launch of a kernel on one rank is taken for the same work as the k-th one on the others.  Pure.
 */
#ifndef ROOFLINE_TECHNIQUE_BALANCE_RANKS_H
#define ROOFLINE_TECHNIQUE_BALANCE_RANKS_H

#include "replay/job/job_run.h"

/* The longest of a launch on all ranks, added up over its launches, is so much longer than the mean: less is noise. */
#define BALANCE_LEAST 1.05

/* A launch that takes so many times as long as nine of ten of its kernel on its rank is none of the usual ones. */
#define BALANCE_OUTLIER 4

/* Launches that belong together: one of each rank. */
struct rank_launch {
	uint32_t kernel, rank; /* kernel_names[]; ranks are counted from 0 */
	uint32_t op;
	bool is_outlier; /* as a first launch is, which waits for code: it and those on other ranks are left out */
};

struct unequal_kernel {
	uint32_t kernel;
	size_t first;		    /* of launches[]: all of one rank, then as many of the next */
	size_t launch_count;	    /* of each rank */
	size_t usual_count;	    /* of these, those that are compared */
	double longest_ns, mean_ns; /* of them, together */
};

struct rank_balance {
	struct rank_launch *launches;	/* owned; by kernel, rank, and start */
	struct unequal_kernel *kernels; /* owned; those that are unequal */
	size_t kernel_count, rank_count;
};

/* Of kernels that compute, not of those of communication.  Returns 0 or -ENOMEM; the caller frees with rank_balance_free, also after a failure. */
int rank_balance_find(struct rank_balance *out, const struct profile *profile);

/* Whether the index-th launches of it are compared. */
bool rank_balance_is_usual(const struct rank_balance *balance, const struct unequal_kernel *kernel,
			   size_t index);
void rank_balance_free(struct rank_balance *balance);

#endif
