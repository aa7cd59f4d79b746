/*
 * op_columns.h - what sections with rows of operations tell of each.
 */
#ifndef ROOFLINE_OP_COLUMNS_H
#define ROOFLINE_OP_COLUMNS_H

#include "output/columns.h"

/* Of a struct profile_op: "kernel", "copy", "memset" or "graph"; a kernel's name, a copy's direction, of others the
 * kind; CUPTI's number of its stream. */
struct value op_get_kind(struct row *row, const void *op);
struct value op_get_name(struct row *row, const void *op);
struct value op_get_stream(struct row *row, const void *op);

#endif
