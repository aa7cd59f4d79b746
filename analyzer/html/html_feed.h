/*
 * html_feed.h - everything that the rows of a timeline show, one after the other.
 *
 * It must not know how that is written.
 */
#ifndef ROOFLINE_HTML_FEED_H
#define ROOFLINE_HTML_FEED_H

#include "html/html_names.h"
#include "html/html_rows.h"

#define HTML_NO_NAME UINT32_MAX

/* One operation, call, range, gap or burst. */
struct html_item {
	uint32_t row;
	int64_t start_ns, end_ns;
	unsigned class_index;	 /* its color; of a gap, that of the largest cause */
	const int64_t *class_ns; /* of a gap: its causes; else NULL */
	uint32_t name;		 /* html_names.h, or HTML_NO_NAME */
	uint32_t call;		 /* of an operation: calls[] or PROFILE_NONE */
};

/* Returns 0, or a negative errno that ends the feeding and is passed on. */
typedef int (*html_visitor)(const struct html_item *item, void *context);

struct html_feed {
	const struct report *report;
	const struct html_rows *rows;
	const struct html_names *names;
	html_visitor visit;
	void *context;
};

/* Visits all items; those of one row in order of their starts. */
int html_feed_all(const struct html_feed *feed);

/* How many there are. */
uint64_t html_feed_count(const struct html_feed *feed);

#endif
