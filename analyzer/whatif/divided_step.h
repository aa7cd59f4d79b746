/*
 * divided_step.h - the steps of one GPU as what each of several does, which add up their gradients in every one.
 *
 * A step ends with the kernels that apply gradients, told by their names.  Where there are none it is an iteration of the
 * steady state, which may be a layer only.  All GPUs are taken to do the same in the same time, so that one is simulated, as tasks (replay/job/).  Of a step
 *
 *   kernels and copies to and from the host that go with the samples take less where those are divided
 *   kernels that go with the weights, as an optimizer's, take as long on every GPU
 *   the all-reduce lies before the longest run of the latter, else at the end: one after the other, or in parts in a stream
 *   of its own, each when its share of the kernels before is done
 *
 * Known to data_parallel.c and divided_run.c only.
 */
#ifndef ROOFLINE_DIVIDED_STEP_H
#define ROOFLINE_DIVIDED_STEP_H

#include "whatif/what_if.h"

/* Kernels that take as long on every GPU: those whose names have one of these words in them, whatever its case. */
struct kept_words {
	const char *const *items;
	size_t count;
};

enum divided_role { ROLE_NONE, ROLE_KEPT, ROLE_DIVIDED };

/* One step. */
struct divided_iteration {
	uint32_t
		last; /* operation that the gradients are ready after; PROFILE_NONE: none of it goes with samples */
	size_t first, end; /* of order[] */
	/* From the end of the one before, which is right before it; 0: there is none.  The usual ones are those from the tenth
	 * percentile to the ninetieth. */
	int64_t recorded_ns;
	bool is_usual;
};

struct divided_step {
	const struct what_ifs *all; /* borrowed */
	size_t device;
	uint8_t *roles;	 /* owned; by operation, enum divided_role */
	uint32_t *order; /* owned; operations, step by step */
	size_t order_count;
	struct divided_iteration *iterations; /* owned */
	size_t iteration_count, iteration_capacity, usual_count;
	bool ends_with_kept;	    /* steps are told by kernels that are kept */
	double divided_ns, kept_ns; /* of kernels */
	bool *is_kept;		    /* owned; by kernel: its name has one of the words */
};

/* all has a report and a usable predictor.  Without usual ones nothing repeats.  Returns 0 or -ENOMEM; the caller frees
 * with divided_step_free, also after a failure. */
int divided_step_find(struct divided_step *step, const struct what_ifs *all, size_t device,
		      const struct kept_words *words);
void divided_step_free(struct divided_step *step);

/* Of an operation of a step. */
static inline bool divided_is_copy(const struct divided_step *step, uint32_t op)
{
	return step->all->run.model->profile->ops[op].kind == OP_COPY;
}

#endif
