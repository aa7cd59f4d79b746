/*
 * expression.h - a condition on parameters: whole numbers and their names, + - * / %, comparisons, and, or, not.
 *
 * Precedence is Python's, division C's; && || ! are understood as well.  and, or evaluate their right side only
 * where it matters, so that "tile and block % tile == 0" divides by no zero.  No library that Debian has does
 * whole numbers with names without also bringing a language to run code in.
 */
#ifndef ROOFLINE_EXPRESSION_H
#define ROOFLINE_EXPRESSION_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct expression;

/* names: what may stand in it; the index of a name is that of its value below.  Fails with -EINVAL, and err says
 * where.  The caller frees with expression_free. */
int expression_parse(struct expression **out, const char *text, const char *const *names,
		     size_t name_count, struct err *err);

/* Fails with -EDOM where something is divided by zero or a result needs more than 64 bits. */
int expression_evaluate(const struct expression *expression, const int64_t *values,
			int64_t *result);

void expression_free(struct expression *expression);

#endif
