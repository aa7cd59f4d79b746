/*
 * what_if.h - a strategy applied to all loops of a device where it can be, and what that would bring.
 */
#ifndef ROOFLINE_WHAT_IF_H
#define ROOFLINE_WHAT_IF_H

#include "model/predict.h"

/* The recording made ready for predictions, once for all rules. */
struct what_ifs {
	struct model *model;
	struct sequences sequences;
	uint32_t *alike; /* owned; by sequence: the first one that is of the same loop */
	struct predictor predictor;
	struct place
		*places; /* owned; of the range that is asked for; NULL: of each strategy's own */
	size_t place_count;
};

struct what_if {
	struct prediction prediction;
	size_t loop_count;	  /* different ones that change */
	uint64_t iteration_count; /* of all of them */
	uint64_t most_nodes;	  /* of a graph */
	size_t changed_count;	  /* waits, decisions, or copies */
	enum refusal refusal;	  /* REFUSED_NONE: predicted; else why nothing is */
};

/* range: the NVTX range whose occurrences are the part that a prediction is for; NULL: the loops that
 * change.  Returns 0 or -ENOMEM; the caller frees with what_ifs_free, also after a failure. */
int what_ifs_open(struct what_ifs *all, const struct profile *profile,
		  const struct ceilings *ceilings, const char *range);
void what_ifs_free(struct what_ifs *all);

/* What a recording's time (of the range, or of the device with most operations) is without what
 * recording added, as a share; 1 where nothing can be said.  Returns 0 or -ENOMEM. */
int what_if_not_recorded(double *share, const struct profile *profile,
			 const struct ceilings *ceilings, const char *range);

/* A STRATEGY row each: what its change is.  The predictor must be usable.  Returns 0 or -ENOMEM. */
int what_if_graph(struct what_if *out, const struct what_ifs *all, size_t device);
int what_if_fewer_waits(struct what_if *out, const struct what_ifs *all, size_t device);
int what_if_decided(struct what_if *out, const struct what_ifs *all, size_t device);
int what_if_overlapped(struct what_if *out, const struct what_ifs *all, size_t device);
int what_if_pinned(struct what_if *out, const struct what_ifs *all, size_t device);

#endif
