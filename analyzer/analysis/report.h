/*
 * report.h - one recording with all its analyses: what outputs, charts and rules read.
 */
#ifndef ROOFLINE_REPORT_H
#define ROOFLINE_REPORT_H

#include "analysis/accesses/accesses.h"
#include "analysis/counters/atomics.h"
#include "analysis/counters/ceilings.h"
#include "analysis/job/collective_sizes.h"
#include "analysis/job/job.h"
#include "analysis/time/collectives.h"
#include "analysis/time/events.h"
#include "analysis/counters/counted.h"
#include "analysis/statistics/device_graphs.h"
#include "analysis/statistics/jit.h"
#include "analysis/samples/device_work.h"
#include "analysis/time/gaps.h"
#include "analysis/compare/graph_join.h"
#include "analysis/statistics/managed_memory.h"
#include "analysis/statistics/memory.h"
#include "analysis/statistics/power.h"
#include "analysis/counters/roofline.h"
#include "analysis/needs.h"
#include "analysis/samples/sm_activity.h"
#include "analysis/statistics/statistics.h"
#include "analysis/time/steady_state.h"
#include "analysis/time/timeline.h"
#include "trace/profile.h"

#define REPORT_LONGEST_GAPS 100 /* kept; outputs may show fewer */

/* Of a report that was built for a part (report_build_for) what that part needs; the rest is NULL. */
/* The part of a recording that was asked for, or packed; all of them owned, and NULL where it is all of it. */
struct report_part {
	char *head;	/* in few words, for a chart: "301 of 604 operations, by --range run" */
	char *sentence; /* the same and what that means for what follows */
	char *options; /* that choose it again, as words of a shell with a space behind each: "--range run " */
	char *choice_options; /* those of them that are no time, for a command that is given another: "--stream 7 " */
	char *range; /* "run", where --range is all that chose it */
};

struct report {
	struct profile *profile;
	uint32_t analyses;     /* bits 1 << ANALYSIS_name: what was asked for */
	struct events *events; /* NULL unless they were asked for */
	struct timeline *timeline;
	struct statistics *statistics;
	struct gap_finder *gap_finder; /* of gaps, which only borrow it */
	struct gap_analysis *gaps;
	struct steady_state *steady_state;
	struct ceilings *ceilings; /* owned; NULL until report_set_ceilings gives some */
	char *ceilings_note; /* owned; where the ceilings are from, or why there are none; may be NULL */
	struct counted *counted;
	struct roofline *roofline;	       /* never NULL; without ceilings it has no shares */
	struct atomics *atomics;	       /* never NULL */
	struct device_graphs *device_graphs;   /* never NULL */
	struct jit *jit;		       /* never NULL; empty where nothing was loaded */
	struct power *power;		       /* never NULL; without readings unless --power */
	struct memory *memory;		       /* never NULL; empty without allocations */
	struct managed_memory *managed_memory; /* never NULL; empty unless --managed */
	struct accesses *accesses;	       /* never NULL; empty without --args */
	struct sm_activity *sm_activity;       /* never NULL; empty without samples */
	struct device_work *device_work;       /* likewise */
	struct collectives *collectives;       /* never NULL; empty without NCCL */
	struct collective_sizes *collective_sizes; /* never NULL; empty without payloads of NCCL */
	struct job *job;	       /* never NULL; empty unless there are several ranks */
	struct graph_join *graph_join; /* NULL where graphs were recorded once */
	/* Owned; of the run with samples, where that is another one, or NULL.  Its kernels' activity is sm_activity. */
	struct report *sampled;
	struct advice
		*advice; /* advice/advice.h, filled in by cmd/; NULL when it was not requested */
	struct report_part part;
	char **not_visible; /* sentences: what CUPTI could not see in this recording */
	size_t not_visible_count;
};

/* Loads the recording at path and runs every analysis.  The caller frees with report_free. */
int report_build(struct report **out, const char *path, struct err *err);

/* The same for what an answer needs: other tables are not read, other analyses not run. */
int report_build_for(struct report **out, const char *path, const struct report_needs *needs,
		     struct err *err);

/* Every analysis of a profile in memory, which the report owns from here on, also on failure. */
int report_of_profile(struct report **out, struct profile *profile, struct err *err);

/* The same, and those of ANALYSES_ON_REQUEST that are named. */
int report_of_profile_with(struct report **out, struct profile *profile, uint32_t on_request,
			   struct err *err);

/* Sets the roofs of the recording's GPU, which the report owns from here on, also on failure, and
 * places everything under them again.  NULL removes them. */
int report_set_ceilings(struct report *report, struct ceilings *ceilings, struct err *err);

/* Keeps a copy of the note: "measured on ...".  Fails with -ENOMEM only. */
int report_set_ceilings_note(struct report *report, const char *note, struct err *err);

void report_free(struct report *report);

/* The report that samples and what was found in them stand in: that of the run with samples, or this one. */
const struct report *report_with_samples(const struct report *report);

/* Whether the device launched work itself, as far as samples, graphs or child kernels (GAP_CHILDREN) tell: what the host waits for is then more than is recorded. */
bool report_has_device_work(const struct report *report, size_t device);

#endif
