/*
 * tune_measure.h - the figure of one trial: measured now, or taken from what was stored.
 */
#ifndef ROOFLINE_TUNE_MEASURE_H
#define ROOFLINE_TUNE_MEASURE_H

#include <limits.h>
#include <stdio.h>

#include "cmd/tune_options.h"
#include "tune/results.h"

#define WHO "rooflinectl tune"

struct tune_bench {
	const struct tune_options *options;
	struct tune_results stored; /* of --from, or of the output folder */
	bool *is_taken;		    /* by stored.items: a measurement is used once */
	uint64_t fingerprint;
	uint32_t session;
	FILE *file;	       /* trials.jsonl, or NULL where nothing is stored */
	char folder[PATH_MAX]; /* of the results; "" with --from alone */
	uint32_t trial_count;
	size_t measured_count, stored_count,
		other_count; /* other: of another command, program, GPU, environment */
	struct profile_device
		*device;    /* filled in by the first recording; max_warps_per_sm 0 before */
	double least_value; /* filled in after the first trial of the search model; 0: not known */
	bool is_roof_asked;
	char complaint[512]; /* of the last trial that failed */
	int interrupted_by;  /* a signal, or 0 */
};

/* Makes the folder, reads what it holds, and opens it for more.  Fails described in err. */
int tune_bench_open(struct tune_bench *bench, const struct tune_options *options, struct err *err);
void tune_bench_close(struct tune_bench *bench);

/* A tune_measure (tune/session.h) whose context is the bench. */
int tune_bench_measure(void *context, unsigned int round, struct tune_trial *trial, double *seconds,
		       struct err *err);

/* Runs the command of a point with the collector in it, into folder, which must not be there.  counters: of --counters,
 * or NULL.  run is filled in, and freed by the caller with tune_run_free. */
struct tune_run;
int tune_bench_record(const struct tune_options *options, struct tune_run *run, const char *folder,
		      const char *counters, struct err *err);

/* Removes a folder of a recording. */
void tune_bench_remove(const char *folder);

#endif
