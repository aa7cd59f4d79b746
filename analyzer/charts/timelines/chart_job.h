/*
 * chart_job.h - what the parts of the chart of a job hand each other.
 */
#ifndef ROOFLINE_CHART_JOB_H
#define ROOFLINE_CHART_JOB_H

#include "analysis/job/communication.h"
#include "charts/timelines/chart_lanes.h"

#define CHART_JOB_RANKS 16     /* that a picture has room for */
#define CHART_JOB_NAME_SIZE 64 /* of a rank */

/* On each other: what ran, what was communicated, and what of that was waiting. */
enum job_lane { JOB_LANE_WORK, JOB_LANE_COMMUNICATION, JOB_LANE_WAIT, JOB_LANE_COUNT };

struct job_chart {
	const struct report *report;
	struct chart_lanes picture;	 /* JOB_LANE_COUNT lanes for each rank that is shown */
	uint32_t shown[CHART_JOB_RANKS]; /* job->ranks[], ascending */
	size_t shown_count;
	uint32_t *rank_of_stream; /* job->ranks[] by profile->streams[] */
	int64_t *wait_of_op;	  /* of a collective's kernel, by profile->ops[] */
	struct communication communication;
	struct chart_file joins;
	size_t collective_count; /* in the time that is shown, of ranks that can be joined */
	size_t joined_count;	 /* of them */
	double label_width;
	int text_columns;
};

struct chart_lane *chart_job_lane(struct job_chart *chart, size_t shown, enum job_lane lane);

/* Counts the collectives that ranks shown have in common, and of a picture joins them by lines from rank to rank: those
 * that others waited in longest first, each as far as it is some pixels from the lines that are there already.  Returns 0
 * or -ENOMEM.  n log n in the number of collectives. */
int chart_job_write_joins(struct job_chart *chart);

/* Names of ranks, and shares of communication, for plots/job.gp. */
int chart_job_write_rows(const struct job_chart *chart, const char *folder, struct err *err);
int chart_job_write_settings(const struct job_chart *chart, const char *folder, struct err *err);

#endif
