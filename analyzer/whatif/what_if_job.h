/*
 * what_if_job.h - techniques applied to a whole job (techniques/job_application.h), and what that would bring.
 *
 * All ranks are re-simulated together, as recorded and with the change; a part takes from the first beginning to the
 * last end of all that was in it, on whatever GPU.  Known to what_if.c only.
 */
#ifndef ROOFLINE_WHAT_IF_JOB_H
#define ROOFLINE_WHAT_IF_JOB_H

#include "whatif/what_if.h"

/* As what_if_together, of such techniques alone; needs_each: nothing is predicted where one is refused. */
int what_if_job(struct prediction *out, struct what_if *parts, const enum technique_id *ids,
		size_t count, const struct what_ifs *all, size_t device, bool needs_each);

#endif
