/*
 * attempt.h - strategies applied to a run one after the other, then one replay of what they made of it.
 *
 * Known to what_if.c, attempt.c and strategies.c only: what_if.h is what others ask.
 */
#ifndef ROOFLINE_APPLY_H
#define ROOFLINE_APPLY_H

#include "whatif/what_if.h"

/* How far what is supposed holds. */
enum apply_end { APPLY_LEAST, APPLY_USUAL, APPLY_MOST };

struct applied {
	const struct what_ifs *all;
	size_t device;
	enum apply_end end;
	struct change change;
	struct place *places;
	size_t place_count, place_capacity;
	double setup_ns;
	bool *is_changed; /* by call: a strategy has changed the iteration that it is of */
	bool *is_taken;	  /* by call: a strategy has changed that; it is its alone */
	bool *is_set_up;  /* by the first one like it: the strategy has changed one of them */
	struct asked_kernel *asked; /* by kernel: room to look at a loop */
	uint8_t *kept_calls;	    /* what a loop's calls were, while a strategy is tried on it */
};

/* What a strategy does.  It is tried on what none before it has changed of each loop (cuts.h); what it makes of the
 * calls is taken back where it refuses. */
struct strategy_row {
	enum refusal refusal; /* where no loop says why */
	bool has_ops, has_lanes;
	/* Always rests on what no recording tells: the low end of its interval is what it brings at least. */
	bool is_supposed;
	bool has_most; /* more may hold than it supposes: the high end is what that brings at most */
	bool is_shared; /* only drops calls of a loop: those after it may change it, too */
	/* NULL: it knows no loops. */
	enum refusal (*change_loop)(struct what_if *out, struct applied *applied, size_t index,
				    const struct loop *loop);
	/* After the loops, or NULL.  Returns 0 or -ENOMEM. */
	int (*change_ops)(struct what_if *out, struct applied *applied);
};

/* In strategies.c. */
extern const struct strategy_row strategy_rows[STRATEGY_COUNT];

/* Returns 0 or -ENOMEM; attempt_end also after a failure. */
int apply_begin(struct applied *applied, const struct what_ifs *all, size_t device,
		const enum strategy *strategies, size_t count, enum apply_end end);
void apply_end(struct applied *applied);

/* Adds what a strategy changes to what those before it did.  Returns 0 or -ENOMEM. */
int apply_technique(struct what_if *out, struct applied *applied, enum strategy strategy);

/* Something must have changed.  Returns 0 or -ENOMEM. */
int apply_predict(struct prediction *out, struct applied *applied);

/* ---- for strategies ---- */

/* Calls [first, end_call) are a part that changes.  Returns 0 or -ENOMEM. */
int apply_add_place(struct applied *applied, size_t first, size_t end_call);

/* Whether none like that loop (sequences[]) has changed yet: each loop is set up once. */
bool apply_is_new_loop(const struct applied *applied, size_t index);

#endif
