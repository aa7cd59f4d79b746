/*
 * kernel_shapes.h - the launches that files had, to find those of another tool's file again.
 *
 * Tools write a kernel's name in their own ways: mangled, or demangled with other blanks and numbers, as
 * "void f<(int)4>(float *)" for "void f<4>(float*)".  A launch is known by its name without these, its grid and its block.
 */
#ifndef ROOFLINE_KERNEL_SHAPES_H
#define ROOFLINE_KERNEL_SHAPES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/groups.h"
#include "roofline/trace_schema.h"

struct kernel_shape {
	char *name; /* as its file has it, owned */
	struct trace_signatures_row look;
};

struct kernel_shapes {
	struct groups groups;	    /* by plain name, grid and block */
	struct kernel_shape *items; /* by number */
	size_t capacity, count;
};

/* Keeps the first of each.  Returns 0 or -ENOMEM. */
int kernel_shapes_add(struct kernel_shapes *shapes, const char *name,
		      const struct trace_signatures_row *look);

/* What is alike, or NULL, also without memory. */
const struct kernel_shape *kernel_shapes_find(const struct kernel_shapes *shapes, const char *name,
					      const struct trace_signatures_row *look);

void kernel_shapes_free(struct kernel_shapes *shapes);

/* The name as all tools would write it; the caller frees, NULL without memory. */
char *kernel_shapes_plain_name(const char *name);

#endif
