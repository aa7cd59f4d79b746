/*
 * points.h - what every format says of a point of the rooflines: its name and figures.
 */
#ifndef ROOFLINE_POINTS_H
#define ROOFLINE_POINTS_H

#include "analysis/report.h"
#include "base/format.h"

#define POINT_LABEL_SIZE (4 * 60 + 1) /* UTF-8, of the widest */

enum point_kind { POINT_APPLICATION, POINT_KERNEL, POINT_GRAPH };

enum point_kind point_kind(const struct report *report, const struct roofline_point *point);
const char *point_kind_key(enum point_kind kind); /* "application", "kernel", "graph" */

/* A kernel's whole name, "graph 3", with its process where there are several, or "application". */
void point_name(char *buffer, size_t size, const struct report *report,
		const struct roofline_point *point);

/* The same in few columns: of a kernel its label, as reports print it. */
void point_label(char buffer[POINT_LABEL_SIZE], const struct report *report,
		 const struct roofline_point *point, enum kernel_label width);

/* Points are walked in one order everywhere: the application, kernels, graphs.  NULL at the end. */
const struct roofline_point *point_at(const struct report *report, size_t index);

/* The graph of a POINT_GRAPH. */
const struct profile_counted_graph *point_graph(const struct report *report,
						const struct roofline_point *point);

/* "3.13 TB/s", "12.0 TFLOP/s", or cycles of the L2 atomic unit: "1.20 G/s". */
struct figure point_rate(enum roofline_roof roof, double per_s);

/* "12.0 MiB", "33.6 MFLOP", "1.05 M" cycles. */
struct figure point_amount(enum roofline_roof roof, double amount);

/* FLOP/byte, three digits: 0.17, 12.3, 1230; "-" when it is 0. */
struct figure point_intensity(double flop_per_byte);

/* "12" or "3-40" launches. */
struct figure point_samples(uint64_t least, uint64_t most);

/* A count that analyses give as a number with a fraction: "1,234", "12.3 M". */
struct figure point_count(double count);

#endif
