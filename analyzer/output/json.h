/*
 * json.h - one object of JSON from a table of columns.
 */
#ifndef ROOFLINE_JSON_H
#define ROOFLINE_JSON_H

#include "output/columns.h"

/* Writes {"schema": OUTPUT_SCHEMA, ...} with the columns of item; what: "the prediction", for the
 * sentence of an error.  Fails with -EIO or -ENOMEM. */
int json_write(const struct column *columns, const void *item, FILE *out, const char *what,
	       struct err *err);

#endif
