/*
 * chart_rows.h - which rows a timeline has, from top to bottom.
 *
 * A picture has room for some twenty rows, a recording may have thousands of
 * streams and threads: the busiest get a row each, the others of a device share
 * one.  What has nothing in the time that is shown has no row.  It must not know
 * how a row is drawn.
 */
#ifndef ROOFLINE_CHART_ROWS_H
#define ROOFLINE_CHART_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/report.h"
#include "charts/timelines/chart_strips.h"

#define CHART_RANGE_ROWS 4
#define CHART_STREAM_ROWS 10 /* of all devices together, and at least two of each */

enum chart_row_kind {
	ROW_RANGES,
	ROW_STREAM,
	ROW_BURSTS,
	ROW_STRIP,
	ROW_COPIES,
	ROW_GAPS,
	ROW_CALLS
};

struct chart_row {
	enum chart_row_kind kind;
	char label[40];
	int color;	 /* enum chart_color of class 0 */
	uint32_t device; /* devices[], of a strip */
	enum chart_strip_kind strip;
};

struct chart_rows {
	struct chart_row *rows;
	size_t count;
	/* Indexes into rows[], or PROFILE_NONE. */
	uint32_t *of_stream; /* as profile->streams[]: for kernels and graphs */
	uint32_t *of_copies; /* device by device, CHART_COPY_KINDS each */
	uint32_t *of_gaps;   /* as profile->devices[] */
	uint32_t *of_bursts; /* likewise: for kernels that the device launched */
	uint32_t *of_ranges; /* thread by thread, CHART_RANGE_LEVELS each */
};

#define CHART_COPY_KINDS 5   /* HtoD, DtoH, DtoD, other copies, memsets */
#define CHART_RANGE_LEVELS 4 /* three depths of push and pop; start and end */

/* Row of an operation or range, or PROFILE_NONE when it has none. */
uint32_t chart_row_of_op(const struct chart_rows *rows, const struct profile *profile,
			 const struct profile_op *op);
uint32_t chart_row_of_range(const struct chart_rows *rows, const struct profile_range *range);

/* The time that is shown, ends included. */
struct chart_window {
	int64_t from_ns, to_ns;
};

/* Of something that lasts from start_ns to end_ns. */
static inline bool chart_window_shows(struct chart_window window, int64_t start_ns, int64_t end_ns)
{
	return end_ns >= window.from_ns && start_ns <= window.to_ns;
}

/* has_bursts, as profile->devices[], says which device launched kernels then; NULL: none did.
 * Returns 0 or -ENOMEM; chart_rows_free in either case. */
int chart_rows_choose(struct chart_rows *rows, const struct profile *profile,
		      struct chart_window window, const bool *has_bursts);
void chart_rows_free(struct chart_rows *rows);

#endif
