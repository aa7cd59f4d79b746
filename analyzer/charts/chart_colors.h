/*
 * chart_colors.h - which color of plots/style.gp stands for what.
 *
 * Numbers, not colors: the palette itself is presentation.  One thing has the
 * same number in every chart.
 */
#ifndef ROOFLINE_CHART_COLORS_H
#define ROOFLINE_CHART_COLORS_H

#include <stdint.h>

#include "analysis/report.h"
#include "charts/chart_file.h"
#include "charts/charts.h"

enum chart_color {
	COLOR_KERNEL = 1, /* the kernels with most time, CHART_KERNEL_COLORS of them */
	COLOR_OTHER_KERNEL = COLOR_KERNEL + CHART_KERNEL_COLORS,
	COLOR_GRAPH,
	COLOR_HTOD,
	COLOR_DTOH,
	COLOR_DTOD,
	COLOR_OTHER_COPY,
	COLOR_MEMSET,
	COLOR_RANGE,		       /* two: neighbors differ */
	COLOR_BURST = COLOR_RANGE + 2, /* kernels that the device launched */
	COLOR_ASIDE,		       /* what runs beside what is shown */
	COLOR_SM, /* from here on two each: a part, such as tensor cores, and the rest */
	COLOR_DRAM = COLOR_SM + 2,
	COLOR_L2 = COLOR_DRAM + 2,
	COLOR_LINK = COLOR_L2 + 2,
	COLOR_CAUSE = COLOR_LINK + 2,
	COLOR_END = COLOR_CAUSE + GAP_CAUSE_COUNT
};

/* The letter that stands for a color in a drawing made of characters. */
char chart_color_letter(int color);

/* Color of every kernel, as profile->kernel_names[]; NULL when out of memory; free() it. */
uint8_t *chart_kernel_colors(const struct report *report);

/* Which class of its row (chart_rows.h) an operation is, and what is written on it, or NULL.
 * kernel_colors: of chart_kernel_colors. */
unsigned chart_op_class(const struct profile *profile, const uint8_t *kernel_colors,
			const struct profile_op *op, const char **label);

/* Idle and wall time of some span of a recording. */
struct chart_idle {
	int64_t wall_ns, idle_ns;
	int64_t by_cause_ns[GAP_CAUSE_COUNT];
};

/* "launch 61.0%, synchronization 30.0%": the causes that make up most of the idle time, as many as fit, as shares of the time
 * that is shown, as reports tell them. */
void chart_describe_causes(char *text, size_t size, const struct chart_idle *idle);

/* "largest cause launch, 61.0%" of the time that is shown, of what is idle for certain; "" where nothing is. */
void chart_describe_largest_cause(char *text, size_t size, const struct chart_idle *idle);

/* Before the entries of a legend with so many titles. */
void chart_begin_legend(struct chart_file *file, int title_count);

/* The causes that occur, the largest first, as legend entries number first and following; returns the next number.  colors_seen:
 * behind them those that are drawn and not counted, as in the margin around a range; NULL: none is. */
int chart_set_cause_legend(struct chart_file *file, int first, const struct chart_idle *idle,
			   const bool colors_seen[COLOR_END]);

/* The kernels and graphs among the colors that were seen, likewise, after a title where there are any. */
int chart_set_kernel_legend(struct chart_file *file, int first, const struct report *report,
			    const bool colors_seen[COLOR_END]);

/* One legend entry.  A color of 0 makes it the title of those that follow. */
void chart_set_legend(struct chart_file *file, int number, int color, const char *text);

#endif
