/*
 * html_windows.h - stretches of a long recording of which a page has every item by itself.
 *
 * Where there are too many items for that everywhere: around both ends of the longest gaps, and at equal distances over
 * the run.
 */
#ifndef ROOFLINE_HTML_WINDOWS_H
#define ROOFLINE_HTML_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/report.h"

#define HTML_WINDOW_GAPS 20    /* of the longest gaps */
#define HTML_WINDOW_PLACES 20  /* over the run */
#define HTML_WINDOW_ITEMS 5000 /* in each, were they spread evenly */

struct html_window {
	int64_t from_ns, to_ns;
};

struct html_windows {
	struct html_window items[2 * HTML_WINDOW_GAPS +
				 HTML_WINDOW_PLACES]; /* in order, apart from each other */
	size_t count;
};

/* all: of the whole recording, which has so many items. */
void html_windows_choose(struct html_windows *windows, const struct report *report,
			 struct html_window all, uint64_t item_count);

/* Whether something of it lies in one of them. */
bool html_windows_show(const struct html_windows *windows, int64_t start_ns, int64_t end_ns);

#endif
