/*
 * application.h - techniques applied to a run, one after the other: what they see of it, and what they change.
 */
#ifndef ROOFLINE_APPLICATION_H
#define ROOFLINE_APPLICATION_H

#include "analysis/report.h"
#include "replay/change.h"
#include "analysis/loops/loops.h"
#include "replay/part_times.h"
#include "techniques/shared/cuts.h"
#include "techniques/shared/fusion.h"
#include "techniques/shared/refusals.h"

/* The recording as techniques see it. */
struct recorded_run {
	const struct report *report; /* borrowed; NULL: without what counters and samples tell */
	struct model *model;	     /* owned */
	const struct ceilings *ceilings; /* borrowed; NULL: nothing can be predicted */
	const struct costs
		*costs;	      /* borrowed, in the middle of what was measured; NULL: likewise */
	struct fusion fusion; /* owned; what counters tell of kernels that could be one */
	/* Owned; by kernel: the library that it is of (library_kernel.h), which nobody can be told to write otherwise, or NULL;
	 * NULL: none is. */
	const char **libraries;
};

/* Lanes that kernels may run in side by side: at the low end of what is assumed, and otherwise. */
#define LANES_LEAST 2
#define LANES_MOST 32 /* CUDA_DEVICE_MAX_CONNECTIONS at most */
_Static_assert(LANES_MOST <= LANES_LIMIT, "a change has room for them");

/* How far what a technique assumes holds: each end of an interval is an application of its own. */
enum assumed_end { ASSUMED_LEAST, ASSUMED_USUAL, ASSUMED_MOST };

/* What a technique changed, added up. */
struct effect {
	size_t loop_count;	    /* different ones that change */
	uint64_t iteration_count;   /* of all of them */
	uint64_t most_nodes;	    /* of a graph; 0: it makes none */
	struct cuts cuts;	    /* of iterations that become several graphs */
	double vanished_bytes;	    /* of DRAM, which fused kernels neither write nor read */
	size_t changed_count;	    /* waits, decisions, copies, allocations, or kernels */
	const struct loop *largest; /* borrowed; the loop with most time that changes, or NULL */
	bool is_assuming;	    /* it rests on what no recording tells */
	bool is_proven; /* the recording tells what its operations need of each other: no "up to" */
	bool keeps_results; /* as a technique's: all that changed is left to a compiler, which knows whether that holds */
	const char *refusal; /* why nothing changed; NULL: something did */
	uint64_t
		number; /* of ARGUMENT_NUMBER, where it was chosen for the run; 0: it was given, or of each kernel */
};

/* Whose a call is: no other technique changes it, but the one that this leaves its loops to. */
#define TAKEN_BY(technique_id) ((uint8_t)((technique_id) + 1)) /* 0: no one's */
#define TAKEN_ALONE UINT8_MAX				       /* left to none */

/* Of a kernel that is launched after a readback (shared/readbacks.h). */
struct readback_kernel;

struct application {
	const struct recorded_run *run;
	size_t device; /* profile->devices[]: the one whose loops and operations change */
	enum assumed_end end;
	struct change change; /* of all techniques together */
	struct place *places; /* owned; the parts that change */
	size_t place_count, place_capacity;
	double setup_ns;   /* what it all costs once */
	bool *is_changed;  /* by call: a technique has changed the iteration that it is of */
	uint8_t *taken_by; /* by call: the technique that has changed that (TAKEN_BY) */
	struct readback_kernel *readback_kernels; /* by kernel: room to look at a loop */

	/* Of the technique that is applied now. */
	uint64_t number; /* of ARGUMENT_NUMBER; 0: as many as each kernel needs */
	const double
		*left; /* borrowed, by signature: the part of its time that a launch takes then */
	bool is_first_like; /* no loop like the one it is given has changed yet: set-up costs once for all of them */
	struct effect *effect;
};

/* Calls [first, end_call) are a part that changes.  Returns 0 or -ENOMEM. */
int application_add_place(struct application *application, size_t first, size_t end_call);

/* Likewise; techniques after this one leave alone what it changed of them. */
int application_keep_calls(struct application *application, size_t first, size_t end_call);

#endif
