/*
 * scenario.h - several techniques at once, and each of them alone.
 *
 * Speedups of single techniques cannot be multiplied: they remove the same waits and pauses.  Here they
 * are applied to one run, in the order in which they were asked for.
 */
#ifndef ROOFLINE_SCENARIO_H
#define ROOFLINE_SCENARIO_H

#include "whatif/side_by_side.h"
#include "analysis/time/occurrence.h"
#include "analysis/report.h"

/* What is asked for: different ones, in the order in which they are applied. */
struct chosen_techniques {
	enum technique_id items[TECHNIQUE_COUNT];
	size_t count;
	/* by technique: borrowed; the NVTX range that it is kept to, or NULL */
	const char *ranges[TECHNIQUE_COUNT];
	uint64_t numbers[TECHNIQUE_COUNT]; /* as in what_if.h */
};

struct scenario_part {
	enum technique_id technique;
	const char *range;	 /* borrowed; the NVTX range that it is kept to, or NULL */
	struct what_if together; /* what it changed beside those before it, or why nothing */
	struct what_if alone;	 /* with its own prediction */
};

struct scenario {
	const struct profile *profile; /* borrowed */
	const char *range; /* borrowed; NULL: the part is the loops and copies that change */
	size_t device;	   /* the one with most operations */
	struct scenario_part parts[TECHNIQUE_COUNT];
	size_t part_count;
	uint64_t numbers[TECHNIQUE_COUNT]; /* as asked for */
	bool is_changed;		   /* by any of them; else there is no prediction */
	bool is_of_job; /* what changes is a whole job, of which there is nothing to look at (what_if_job.h) */
	bool is_up_to;		 /* by one of which the low end is told first (technique.h) */
	double unrecorded_share; /* of launches of kernels, which were counted by instrumented code */
	struct prediction prediction;
};

/* Fails with -ENODATA where nothing can be predicted, the reason in err, or -ENOMEM. */
int scenario_predict(struct scenario *out, const struct report *report,
		     const struct chosen_techniques *chosen, const char *range, struct err *err);

/* The same, and what changes to look at; within: only in that NVTX range, or NULL.  sides is all 0 where
 * nothing changes there; the caller frees with side_by_side_free, also after a failure. */
int scenario_show(struct scenario *out, struct side_by_side *sides, const struct report *report,
		  const struct chosen_techniques *chosen, const struct occurrence *within,
		  struct err *err);

#endif
