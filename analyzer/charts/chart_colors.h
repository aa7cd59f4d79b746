/*
 * chart_colours.h - which colour of plots/style.gp stands for what.
 *
 * Numbers, not colours: the palette itself is presentation.  One thing has the
 * same number in every chart.
 */
#ifndef ROOFLINE_CHART_COLORS_H
#define ROOFLINE_CHART_COLORS_H

#include <stdint.h>

#include "analysis/report.h"
#include "charts/chart_file.h"
#include "charts/charts.h"

enum chart_colour {
	COLOUR_KERNEL = 1, /* the kernels with most time, CHART_KERNEL_COLOURS of them */
	COLOUR_OTHER_KERNEL = COLOUR_KERNEL + CHART_KERNEL_COLOURS,
	COLOUR_GRAPH,
	COLOUR_HTOD,
	COLOUR_DTOH,
	COLOUR_DTOD,
	COLOUR_OTHER_COPY,
	COLOUR_MEMSET,
	COLOUR_RANGE,			 /* two: neighbours differ */
	COLOUR_BURST = COLOUR_RANGE + 2, /* kernels that the device launched */
	COLOUR_ASIDE,			 /* what runs beside what is shown */
	COLOUR_SM, /* from here on two each: a part, such as tensor cores, and the rest */
	COLOUR_DRAM = COLOUR_SM + 2,
	COLOUR_L2 = COLOUR_DRAM + 2,
	COLOUR_LINK = COLOUR_L2 + 2,
	COLOUR_CAUSE = COLOUR_LINK + 2,
	COLOUR_END = COLOUR_CAUSE + GAP_CAUSE_COUNT
};

/* The letter that stands for a colour in a drawing made of characters. */
char chart_colour_letter(int colour);

/* Colour of every kernel, as profile->kernel_names[]; NULL when out of memory; free() it. */
uint8_t *chart_kernel_colours(const struct report *report);

/* Which class of its row (chart_rows.h) an operation is, and what is written on it, or NULL.
 * kernel_colours: of chart_kernel_colours. */
unsigned chart_op_class(const struct profile *profile, const uint8_t *kernel_colours,
			const struct profile_op *op, const char **label);

/* Idle and wall time of some span of a recording. */
struct chart_idle {
	int64_t wall_ns, idle_ns;
	int64_t by_cause_ns[GAP_CAUSE_COUNT];
};

/* "launch 61%, synchronisation 30%": the causes that make up most of the idle time,
 * as many as fit. */
void chart_describe_causes(char *text, size_t size, const struct chart_idle *idle);

/* Before the entries of a legend with so many titles. */
void chart_begin_legend(struct chart_file *file, int title_count);

/* The causes that occur, as legend entries number first and following; returns the next number. */
int chart_set_cause_legend(struct chart_file *file, int first, const struct chart_idle *idle);

/* The kernels and graphs among the colours that were seen, likewise, after a title where there are any. */
int chart_set_kernel_legend(struct chart_file *file, int first, const struct statistics *statistics,
			    const bool colours_seen[COLOUR_END]);

/* One legend entry.  A colour of 0 makes it the title of those that follow. */
void chart_set_legend(struct chart_file *file, int number, int colour, const char *text);

#endif
