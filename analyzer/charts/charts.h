/*
 * charts.h - every chart, once, and what writes its columns.
 *
 * To add one: write analyzer/charts/chart_foo.c, of a chart over time in timelines/ there, with `int chart_foo(...)`
 * as below and plots/foo.gp that draws its columns, and add its CHART row here.
 *
 * A chart decides what is shown and how it is worded; plots/ decides how it looks.
 * It must not know gnuplot's terminals.
 */
#ifndef ROOFLINE_CHARTS_H
#define ROOFLINE_CHARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "whatif/scenario.h"
#include "analysis/time/occurrence.h"
#include "analysis/report.h"
#include "tune/results.h"

/* CHART(name, summary), in the order that --help shows them and that a plain `plot` draws */
#define CHARTS(CHART)                                                                              \
	CHART(timeline, "what ran when: NVTX ranges, streams, copies and the causes of idle time") \
	CHART(gaps, "idle time by length of the gap and by cause")                                 \
	CHART(kernels, "kernels by total time")                                                    \
	CHART(roofline, "kernels and the application under the roofs of memory and arithmetic")    \
	CHART(launch_roofline, "duration of kernels and the share of time that the GPU is busy")   \
	CHART(atomics, "time of kernels with atomics, and what one or many addresses would take")  \
	CHART(job,                                                                                 \
	      "several ranks: what ran when, their collectives joined, exposed communication")     \
	CHART(message_sizes,                                                                       \
	      "collectives and copies between GPUs by size, against what the links do")            \
	CHART(whatif, "a few iterations as recorded and as they would be; only when it is named")  \
	CHART(tune, "best found against trials, of a folder that tune wrote; only when it is named")

#define CHART_KERNEL_COLORS 7 /* kernels with a color of their own; the rest is `other` */

struct chart_options {
	int64_t from_ns,
		to_ns; /* part of the recording, from its first operation; to_ns < 0: its end */
	const struct occurrence *occurrence; /* shown instead, wherever it lies; NULL: none */
	const struct scenario *scenario;     /* of whatif, which needs both */
	const struct side_by_side *sides;
	const struct tune_results *results; /* of tune, which has no report */
	int text_columns; /* width of a drawing made of characters, 0 for a picture */
};

/*
 * Writes NAME.gp, gnuplot assignments, and the column files that they name into
 * folder.  Column files are separated by tabs; their first line, a comment,
 * names the columns.  Fails (negative errno, described in err) with -ENODATA when the
 * recording has nothing to show, where err says what is missing and which command
 * records it, when from_ns or to_ns lie outside the recording, when a file cannot
 * be written or memory runs out.
 */
typedef int (*chart_writer)(const struct report *report, const struct chart_options *options,
			    const char *folder, struct err *err);

#define CHART_PROTOTYPE(name, summary)                                                     \
	int chart_##name(const struct report *report, const struct chart_options *options, \
			 const char *folder, struct err *err);
CHARTS(CHART_PROTOTYPE)
#undef CHART_PROTOTYPE

#endif
