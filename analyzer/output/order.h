/*
 * order.h - the rows of one section by a column of it.
 */
#ifndef ROOFLINE_ORDER_H
#define ROOFLINE_ORDER_H

#include "analysis/report.h"
#include "output/sections.h"

struct row_order {
	const struct section *section;
	const void **items; /* owned; what section_row gives */
	size_t count;
};

/* By the column of that name, as CSV has it: numbers from the greatest, texts from A, what is not known last, equal ones
 * as they were.  Fails, described in err, with -EDOM where the section has no such column, or no rows in a list of their
 * own; or with -ENOMEM.  The caller frees, also after a failure. */
int row_order_make(struct row_order *out, const struct section *section,
		   const struct report *report, const struct output_options *options,
		   const char *column, struct err *err);
void row_order_free(struct row_order *order);

#endif
