/*
 * simulated_times.h - how long parts of a job take in a simulation of all its ranks.
 *
 * Known to what_if_job.c only.
 */
#ifndef ROOFLINE_SIMULATED_TIMES_H
#define ROOFLINE_SIMULATED_TIMES_H

#include "base/spans.h"
#include "techniques/job_application.h"
#include "whatif/what_if.h"

/* Measured of a simulation. */
struct simulated_times {
	double program_ns, place_ns, changed_ns, steady_ns;
	uint64_t steady_count;
};

/* Moments of the recording: what is asked for, and all that changes. */
struct job_places {
	struct spans asked, changed; /* owned; sealed */
};

/* The range that was asked for, or the loops in which something changes; and these in any case.  Returns 0 or -ENOMEM; the
 * caller frees with job_places_free, also after a failure. */
int job_places_find(struct job_places *places, const struct job_application *application,
		    const struct what_ifs *all);
void job_places_free(struct job_places *places);

/* Of tasks that have run; steady is of the device's steady state, 0 without one.  Returns 0 or -ENOMEM. */
int simulated_times_measure(struct simulated_times *out, const struct job_run *job,
			    const struct job_places *places, const struct what_ifs *all,
			    size_t device);

#endif
