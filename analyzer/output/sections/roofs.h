/*
 * roofs.h - what the sections of both rooflines share.
 */
#ifndef ROOFLINE_ROOFS_H
#define ROOFLINE_ROOFS_H

#include "output/page.h"
#include "output/points.h"

/* Which point it is, and its launches and time. */
extern const struct column point_head_columns[];

/* The keys of its regime, of a struct roofline_point. */
struct value point_get_regime(struct row *row, const void *from);

/* Of the report's roofs: where they are from, and each of them. */
extern const struct column roofs_columns[];

/* The report's struct roofline, for a group. */
const void *report_roofline(struct row *row, const void *from);

/* The application, kernels and graphs; all of them in one order. */
const void *point_application(struct row *row, const void *from);
const void *point_kernel_at(const struct row *parent, size_t index);
const void *point_graph_at(const struct row *parent, size_t index);
const void *point_any_at(const struct row *parent, size_t index);

/* A PREDICATE of the row's point, whatever struct of it the column is of. */
#define POINT_PREDICATE(function, expression)                         \
	static bool function(const struct row *row, const void *from) \
	{                                                             \
		const struct roofline_point *point = row->item;       \
                                                                      \
		(void)from;                                           \
		return expression;                                    \
	}                                                             \
	struct row

/* A point's name in width columns, and on a line of its own. */
void page_point(struct page *page, const struct roofline_point *point, size_t width);
void page_point_line(struct page *page, const struct roofline_point *point);

/* Whether the recording has hardware counters. */
bool report_has_counters(const struct report *report);

#endif
