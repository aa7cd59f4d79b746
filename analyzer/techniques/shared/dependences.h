/*
 * dependences.h - kernels that are to run side by side: which of them have to wait for others of them.
 *
 * As far as it was recorded what kernels were given (analysis/accesses/accesses.h).
 */
#ifndef ROOFLINE_DEPENDENCES_H
#define ROOFLINE_DEPENDENCES_H

#include "analysis/loops/loops.h"
#include "analysis/report.h"
#include "replay/model.h"

#define BESIDE_MOST 64 /* different ones that are looked at; what comes then waits */

/* Kernels that nothing parts yet, in the lanes that they run in. */
struct kernels_beside {
	const struct accesses *accesses; /* borrowed; NULL: nothing was recorded */
	uint32_t lane_count, next_lane;
	struct {
		uint32_t list; /* accesses->lists[] or PROFILE_NONE, each once */
		uint32_t lane; /* of its last launch */
	} items[BESIDE_MOST];
	size_t count;
};

/* Where a kernel runs. */
struct lane_beside {
	uint32_t lane;
	bool is_joined; /* it waits for all before it */
	bool is_full;	/* for the only reason that there were too many of them */
	/* What is known of it and those that it runs beside: whether it waits for one, in its lane or for all, or not. */
	enum dependence found;
};

/* What was recorded of that, or NULL; report may be NULL. */
const struct accesses *dependences_recorded(const struct report *report);

struct kernels_beside kernels_beside_of(const struct report *report, uint32_t lane_count);

/* Takes in the next kernel.  One that has to wait for one of them follows in its lane; one that has to wait for several, or
 * that waits for all for another reason (is_joined), is the first of those from here on. */
struct lane_beside kernels_beside_add(struct kernels_beside *beside, size_t op, bool is_joined);

/* The lane of the next operation that is no kernel. */
uint32_t kernels_beside_next_lane(struct kernels_beside *beside);

/* Whether each iteration is known to read what the one before it wrote: nothing else writes there in between. */
bool dependences_carry_on(const struct accesses *accesses, const struct model *model,
			  const struct loop *loop);

/* Whether a call launches a kernel that is known to be given memory which the host reads and writes itself. */
bool dependences_reach_host(const struct accesses *accesses, const struct model *model,
			    size_t call);

/* Whether two kernels are known to need nothing of each other. */
bool dependences_are_none(const struct accesses *accesses, size_t first_op, size_t second_op);

#endif
