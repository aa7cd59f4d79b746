/*
 * apply.h - techniques applied to all loops of a device, one after the other, then one replay of what they made of it.
 *
 * Known to what_if.c and apply.c only: what_if.h is what others ask.
 */
#ifndef ROOFLINE_APPLY_H
#define ROOFLINE_APPLY_H

#include "whatif/bounds.h"
#include "whatif/what_if.h"

struct applied {
	const struct what_ifs *all;
	struct application application;
	bool *is_set_up; /* by loop, the first one like it: the technique has changed one of them */
	size_t refused_call_count; /* of the largest loop that a technique refused, whose reason is told */
	uint8_t *kept_calls;	  /* what a loop's calls were, while a technique is tried on it */
	struct bound_terms terms; /* of the techniques that changed something */
	double spread;		  /* likewise: the widest */
};

/* Returns 0 or -ENOMEM; apply_end also after a failure. */
int apply_begin(struct applied *applied, const struct what_ifs *all, size_t device,
		const enum technique_id *ids, size_t count, enum assumed_end end);
void apply_end(struct applied *applied);

/* Adds what a technique changes to what those before it did.  Returns 0 or -ENOMEM. */
int apply_technique(struct effect *effect, struct applied *applied, enum technique_id id);

/* Something must have changed.  Returns 0, -ENOMEM, or -ERANGE: out is beyond what the recording allows (bounds.h), and
 * not to be shown. */
int apply_predict(struct prediction *out, struct applied *applied);

/* The device's steady state; NULL: it has none, or nobody has looked for one, as without a report. */
const struct steady_loop *apply_steady_of(const struct what_ifs *all, size_t device);

#endif
