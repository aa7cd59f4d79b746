/*
 * html_timeline.h - the timeline of a page: what its rows are, and their blocks.
 *
 * Element `timeline` is the JSON that says what there is and which blocks have it: blocks l0, l1, ... are rows of
 * levels (html_levels.h), s0, s1, ... rows of samples.
 */
#ifndef ROOFLINE_HTML_TIMELINE_H
#define ROOFLINE_HTML_TIMELINE_H

#include "html/html_names.h"

/* out: for what a browser shows first, that element and the coarsest level; later: for the other blocks.  Returns 0 or
 * -ENOMEM. */
int html_write_timeline(const struct report *report, const struct html_names *names, FILE *out,
			FILE *later);

#endif
