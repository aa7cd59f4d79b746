/*
 * csv.h - a table of columns as CSV.
 */
#ifndef ROOFLINE_OUTPUT_CSV_H
#define ROOFLINE_OUTPUT_CSV_H

#include "output/columns.h"

/* Writes the heads and a line for each row that at gives for item; what: "the comparison", for the sentence of an error.
 * Fails with -EIO or -ENOMEM. */
int csv_table_write(const struct column *columns, row_function at, const void *item, FILE *out,
		    const char *what, struct err *err);

#endif
