/*
 * html_rows.h - which rows the timeline of a page has, from top to bottom.
 *
 * First the host, thread by thread: its NVTX ranges and its API calls.  Then each GPU: why it was idle, its streams, what
 * it launched itself, and samples of its hardware.  A page can be scrolled, so it has more rows than a picture
 * (charts/timelines/chart_rows.h) has; but beyond the busiest threads and streams the others of a GPU share a row, and
 * those of the host are left out, which html_rows.notes tell.
 */
#ifndef ROOFLINE_HTML_ROWS_H
#define ROOFLINE_HTML_ROWS_H

#include "analysis/report.h"
#include "charts/timelines/chart_strips.h"

#define HTML_THREAD_MOST 24
#define HTML_STREAM_MOST 48 /* of all devices together, and at least two of each */
#define HTML_RANGE_LEVELS 7 /* six depths of push and pop; start and end */

/* HTML_ROW_KIND(constant, key in the page) */
#define HTML_ROW_KINDS(HTML_ROW_KIND)   \
	HTML_ROW_KIND(RANGES, "ranges") \
	HTML_ROW_KIND(CALLS, "calls")   \
	HTML_ROW_KIND(IDLE, "idle")     \
	HTML_ROW_KIND(STREAM, "stream") \
	HTML_ROW_KIND(BURSTS, "bursts") \
	HTML_ROW_KIND(SAMPLES, "samples")

#define HTML_ROW_CONSTANT(constant, key) HTML_ROW_##constant,
enum html_row_kind { HTML_ROW_KINDS(HTML_ROW_CONSTANT) HTML_ROW_KIND_COUNT };
#undef HTML_ROW_CONSTANT

struct html_row {
	enum html_row_kind kind;
	char label[64];
	uint32_t thread;	     /* threads[] or PROFILE_NONE */
	uint32_t device;	     /* devices[] or PROFILE_NONE */
	enum chart_strip_kind strip; /* of samples */
};

struct html_rows {
	struct html_row *items; /* owned */
	size_t count, capacity;
	/* Owned; indexes into items[], or PROFILE_NONE. */
	uint32_t *of_stream; /* as profile->streams[] */
	uint32_t *of_calls;  /* as profile->threads[] */
	uint32_t *of_ranges; /* thread by thread, HTML_RANGE_LEVELS each */
	uint32_t *of_idle;   /* as profile->devices[] */
	uint32_t *of_bursts; /* likewise */
	size_t hidden_thread_count;
	uint64_t hidden_range_count; /* too deep */
};

/* Returns 0 or -ENOMEM; html_rows_free in either case. */
int html_rows_choose(struct html_rows *rows, const struct report *report);
void html_rows_free(struct html_rows *rows);

/* Row of a range, or PROFILE_NONE. */
uint32_t html_row_of_range(const struct html_rows *rows, const struct profile_range *range);

#endif
