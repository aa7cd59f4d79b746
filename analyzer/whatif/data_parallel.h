/*
 * data_parallel.h - what several GPUs would bring to a program that one GPU was recorded of.
 *
 * Each GPU has all weights, and of every step a share of the samples, or as many as the one GPU had; then all of them add
 * up their gradients.  How a step is told and simulated say divided_step.h and divided_run.h,
 * what adding up takes all_reduce.h.  No prediction is beyond linear.
 */
#ifndef ROOFLINE_DATA_PARALLEL_H
#define ROOFLINE_DATA_PARALLEL_H

#include "whatif/divided_run.h"

#define DATA_PARALLEL_COUNTS 16 /* numbers of GPUs at most */
#define DATA_PARALLEL_MOST_GPUS 1024
#define DATA_PARALLEL_MOST_PARTS 64

/* In the names of kernels that apply gradients, if nobody says otherwise. */
extern const struct kept_words data_parallel_kept;

struct data_parallel_request {
	uint64_t gpus[DATA_PARALLEL_COUNTS];
	size_t count;
	double bytes;	/* of gradients, an iteration */
	uint64_t parts; /* of what is overlapped; 0: as few as bring nearly all */
	enum divided divided;
	struct kept_words kept;
};

/* Speedups are in samples a second, against the one GPU. */
struct data_parallel_gain {
	double iteration_ns; /* of which each GPU does its own */
	double speedup, low, high;
};

struct data_parallel_row {
	uint64_t gpus;
	bool is_weak;
	double linear;
	enum reduce_source source;
	double reduce_ns; /* all at once */
	struct data_parallel_gain in_turn, overlapped;
};

struct data_parallel {
	const struct profile *profile; /* borrowed */
	size_t device;
	double iteration_ns;	  /* of one GPU, simulated */
	uint64_t iteration_count; /* usual ones, of which that is the mean */
	bool ends_with_kept; /* steps are told by their last kernels; else they are iterations of the steady state */
	double bytes;
	uint64_t parts;
	uint64_t measured_gpus;	    /* 0: links were not measured */
	double divided_ns, kept_ns; /* of kernels, an iteration */
	const char **kept; /* owned; names of kernels that take as long on every GPU, borrowed */
	size_t kept_count;
	struct data_parallel_row rows[2 * DATA_PARALLEL_COUNTS];
	size_t row_count;
};

/* Fails with -ENODATA where nothing can be predicted, -ENOENT where no kernel is called so, the reason in err, or -ENOMEM.  The caller frees with
 * data_parallel_free, also after a failure. */
int data_parallel_predict(struct data_parallel *out, const struct report *report,
			  const struct data_parallel_request *request, struct err *err);
void data_parallel_free(struct data_parallel *found);

#endif
