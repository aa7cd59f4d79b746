/*
 * html_names.h - what things in the timeline are called, once for all that are called alike.
 *
 * A name's number stands in the blocks.  Of a kernel it is that of a launch shape, of a copy that of all copies of its
 * size and direction; where there are too many of these, that of the kernel, or of the direction.
 */
#ifndef ROOFLINE_HTML_NAMES_H
#define ROOFLINE_HTML_NAMES_H

#include <jansson.h>

#include "analysis/report.h"
#include "base/json_builder.h"

#define HTML_SHAPE_MOST 5000	   /* launch shapes, and sizes of copies, with names of their own */
#define HTML_RANGE_NAME_MOST 50000 /* NVTX names; others are "(other ranges)" */

/* Colors of a stream, in the order of the page's: kernels by total time, all others, graphs, and these. */
enum html_op_class {
	HTML_CLASS_GRAPH = 8,
	HTML_CLASS_HTOD,
	HTML_CLASS_DTOH,
	HTML_CLASS_DTOD,
	HTML_CLASS_COPY,
	HTML_CLASS_MEMSET
};

struct html_names {
	const struct report *report;
	struct json_builder *json; /* whose parts are made of these names, too */
	uint8_t *kernel_colors;	   /* owned; as kernel_names[], of charts/chart_colors.h */
	struct html_range_name *range_names; /* owned; opaque */
	size_t range_name_count;
	/* Where each sort begins. */
	uint32_t copies, memsets, graphs, calls, ranges;
	bool has_shapes, has_sizes;
};

/* Returns 0 or -ENOMEM; html_names_free in either case. */
int html_names_open(struct html_names *names, const struct report *report,
		    struct json_builder *json);
void html_names_free(struct html_names *names);

uint32_t html_name_of_op(const struct html_names *names, const struct profile_op *op);
unsigned html_class_of_op(const struct html_names *names, const struct profile_op *op);
uint32_t html_name_of_call(const struct html_names *names, const struct profile_call *call);
uint32_t html_name_of_range(const struct html_names *names, const struct profile_range *range);

/* {"kernels": [[whole, short]...], "names": [[kernel or text, detail]...]} into object. */
void html_names_put(const struct html_names *names, json_t *object);

#endif
