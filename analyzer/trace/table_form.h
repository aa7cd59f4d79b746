/*
 * table_form.h - trace_schema.h as data: the columns of each table, for what reads and writes any of them.
 */
#ifndef ROOFLINE_TABLE_FORM_H
#define ROOFLINE_TABLE_FORM_H

#include <stddef.h>

#include "roofline/trace_schema.h"

enum column_type { COLUMN_i64, COLUMN_u64, COLUMN_u32, COLUMN_f64, COLUMN_text };

struct table_column {
	const char *name;
	enum column_type type;
	size_t offset; /* in the row structure */
};

struct table_form {
	const char *name; /* "kernels"; the file is kernels.csv */
	const struct table_column *columns;
	size_t column_count;
	size_t row_bytes; /* of the row structure */
};

struct table_form table_form_of(enum trace_table table);

#endif
