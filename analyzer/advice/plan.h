/*
 * plan.h - the changes that go together, in order, re-simulated together.
 *
 * Speedups of single changes cannot be multiplied: they remove the same pauses.  So the plan begins with the change that
 * gains most alone, or with what has to be done for it anyhow where that alone saves most of it, and each other one is re-simulated with all of those before it, the next best first; it joins
 * them where it adds more than its own prediction is uncertain by.  What the first one is judged by (gain.h) all are: the
 * steady state, the whole run, or the range that was asked for.
 */
#ifndef ROOFLINE_PLAN_H
#define ROOFLINE_PLAN_H

#include "advice/advice.h"
#include "techniques/techniques.h"
#include "whatif/what_if.h"

struct facts;
struct rule;

/* A change that was re-simulated alone. */
struct plan_candidate {
	const struct rule *rule;
	enum technique_id technique;
	struct predicted_gain alone;
	double expected; /* speedup, by which candidates are ordered */
	uint64_t number; /* that the technique chose for the run (struct effect); 0: none */
	bool is_refused, is_worth;
	bool is_of_job; /* what changes is all of it */
};

struct plan_candidates {
	struct plan_candidate items[TECHNIQUE_COUNT]; /* one of each technique */
	size_t count;
};

/* Keeps what a rule found for the device with most operations. */
void plan_add_candidate(struct plan_candidates *candidates, const struct facts *facts,
			const struct rule *rule, size_t device, const struct what_if *what_if);

/* Returns 0 or -ENOMEM. */
int plan_find(struct advice *advice, const struct facts *facts, struct plan_candidates *candidates);
void plan_free(struct advice *advice);

#endif
