/*
 * kernel_parts.h - where in a demangled name its namespace, its template arguments and its parameters are.
 */
#ifndef ROOFLINE_KERNEL_PARTS_H
#define ROOFLINE_KERNEL_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/names/slice.h"

#define KERNEL_ARGUMENTS_MOST 32 /* what follows is not looked at */

struct kernel_parts {
	struct slice qualifier; /* "a::b" of "a::b::kernel<int>(float*)" */
	struct slice base;	/* "kernel" */
	struct slice arguments[KERNEL_ARGUMENTS_MOST];
	size_t argument_count;
	struct slice parameters; /* "float*" */
	bool has_parameters;
};

void kernel_parts_find(struct kernel_parts *parts, const char *name);

/* The part of a qualified name behind the last "::", and what stands before that. */
struct slice name_last(struct slice name, struct slice *qualifier);

/* What is in the brackets that open at that place, and in *rest what follows them. */
struct slice name_in_brackets(struct slice text, size_t open, struct slice *rest);

/* The first items between commas, most at most.  Returns how many. */
size_t name_split(struct slice list, struct slice *items, size_t most);

/* base<arguments>rest; false where it has no template arguments. */
bool name_split_template(struct slice text, struct slice *base, struct slice *arguments,
			 struct slice *rest);

#endif
