/*
 * kernel_labels.h - short names of kernels for people, different for different kernels.
 *
 * Each name is folded (kernel_fold.h).  Where that makes several alike, what tells them apart is added, in this order:
 * the template arguments in which they differ, the namespace, the parameters, words of the name in [], at last digits
 * that follow from the whole name.  So a label depends on which other kernels there are, but not on their order.
 */
#ifndef ROOFLINE_KERNEL_LABELS_H
#define ROOFLINE_KERNEL_LABELS_H

#include <stddef.h>

/* The columns of a label: of a label in a chart, in a sentence or a legend, and in a table. */
#define KERNEL_LABEL_WIDTHS(X) X(LABEL_NARROW, 26) X(LABEL_MEDIUM, 34) X(LABEL_WIDE, 60)

enum kernel_label {
#define LABEL_ENUM(name, width) name,
	KERNEL_LABEL_WIDTHS(LABEL_ENUM)
#undef LABEL_ENUM
		LABEL_COUNT
};

struct kernel_labels;

/* The names are borrowed; equal ones are one kernel.  NULL without memory.  n log n in the number of names. */
struct kernel_labels *kernel_labels_create(const char *const *names, size_t count);
/* One more that frees them; by one thread at a time. */
struct kernel_labels *kernel_labels_share(struct kernel_labels *labels);
void kernel_labels_free(struct kernel_labels *labels); /* NULL is fine */

/* The label of a name: never longer than its width, and of no byte that a terminal must not get.  A name that is not
 * among them, and any of labels that are NULL, is its own label. */
const char *kernel_label(const struct kernel_labels *labels, const char *name,
			 enum kernel_label width);

/* How many columns a label of that width has at most. */
size_t kernel_label_columns(enum kernel_label width);

/* The widest that has no more columns; the narrowest where all have. */
enum kernel_label kernel_label_within(size_t columns);

#endif
