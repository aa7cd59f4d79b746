/*
 * results.h - measurements in a folder: trials.jsonl, a line of JSON for each.
 *
 * Lines are only ever added, so what was measured before an interruption is there.  A line has the parameters, what
 * was measured and how long that took; which search asked for it and as which trial; and a fingerprint of command,
 * program, GPU and environment, by which a later run knows whether it may use the measurement.
 */
#ifndef ROOFLINE_TUNE_RESULTS_H
#define ROOFLINE_TUNE_RESULTS_H

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/json_builder.h"
#include "tune/history.h"

#define TUNE_RESULTS_FILE "trials.jsonl"
#define TUNE_SEARCH_NAME_BYTES 24

struct tune_result {
	char *point;	 /* owned; "block=64 tile=8" */
	char *objective; /* owned; "kernel:multiply" */
	uint64_t fingerprint;
	uint32_t session; /* one call of tune, from 1 */
	char search[TUNE_SEARCH_NAME_BYTES];
	uint32_t seed;
	uint32_t trial,
		round; /* trial: from 1, 0 of a repeat; round: of the repeats, 0 of a trial */
	bool is_maximized;
	bool is_stored;		      /* taken from an earlier line, not measured */
	double seconds;		      /* what measuring took */
	struct tune_trial outcome;    /* but its point, which only a space numbers */
	double least_value;	      /* that no point can be better than: the roof; 0: not known */
	struct profile_device device; /* limits of the GPU that it ran on; all 0: not recorded */
};

struct tune_results {
	struct tune_result *items;
	size_t count, capacity;
	size_t unreadable_count; /* lines; the last one may be cut off */
};

/* Reads those of a folder; none where there is no such file.  Fails (described in err) where it cannot be read.
 * The caller frees with tune_results_free, also after a failure. */
int tune_results_read(struct tune_results *results, const char *folder, struct err *err);
void tune_results_free(struct tune_results *results);

/* Whether the folder has such a file. */
bool tune_results_are_there(const char *folder);

/* Writes one line, and out to the disk.  space: names and values of the outcome's point. */
int tune_results_write(FILE *file, const struct tune_result *result,
		       const struct tune_space *space);

/* {"block": "64", "tile": "8"} of a point. */
json_t *tune_results_parameters(struct json_builder *json, const struct tune_space *space,
				size_t point);

#endif
