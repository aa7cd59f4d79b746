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

/* Kernels that nothing parts yet. */
struct kernels_beside {
	const struct accesses *accesses; /* borrowed; NULL: nothing was recorded */
	uint32_t lists[BESIDE_MOST];	 /* accesses->lists[] or PROFILE_NONE, each once */
	size_t count;
};

/* What was recorded of that, or NULL; report may be NULL. */
const struct accesses *dependences_recorded(const struct report *report);

struct kernels_beside kernels_beside_of(const struct report *report);

/* Takes in the next kernel.  Where it has to wait for one of them (DEPENDENCE_THERE), or all wait for another reason
 * (is_joined), it is the first of those from here on. */
enum dependence kernels_beside_add(struct kernels_beside *beside, size_t op, bool is_joined);

/* Whether each iteration is known to read what the one before it wrote: nothing else writes there in between. */
bool dependences_carry_on(const struct accesses *accesses, const struct model *model,
			  const struct loop *loop);

/* Whether a call launches a kernel that is known to be given memory which the host reads and writes itself. */
bool dependences_reach_host(const struct accesses *accesses, const struct model *model,
			    size_t call);

/* Whether two kernels are known to need nothing of each other. */
bool dependences_are_none(const struct accesses *accesses, size_t first_op, size_t second_op);

#endif
