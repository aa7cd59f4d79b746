/*
 * html_levels.h - the timeline at several zooms.
 *
 * A level divides the recording into so many columns: what is at least a column wide is kept as it is, what is shorter
 * becomes runs (charts/timelines/raster.h), which say how much of them was busy and with what.  So a level has at most as
 * many entries a row as columns.  The last level has every item by itself where that does not make the page too large.
 *
 * A row of a level is one block: numbers of all its entries, column by column, as HTML_COLUMNS says.
 */
#ifndef ROOFLINE_HTML_LEVELS_H
#define ROOFLINE_HTML_LEVELS_H

#include "html/html_blocks.h"
#include "html/html_feed.h"
#include "html/html_windows.h"

/* HTML_COLUMN(name, what an entry has there) */
#define HTML_COLUMNS(HTML_COLUMN)                                                                               \
	HTML_COLUMN(starts,                                                                                     \
		    "ns since the start of the entry before it, of the first since the origin")                 \
	HTML_COLUMN(lengths, "ns")                                                                              \
	HTML_COLUMN(counts, "items in it, less 1")                                                              \
	HTML_COLUMN(busy, "a byte: of its length, 255 is all of it")                                            \
	HTML_COLUMN(                                                                                            \
		classes,                                                                                        \
		"a byte: its class; from 32 on so many pairs follow, of a class and its weight: of an item ns") \
	HTML_COLUMN(names, "the name's number and 1; 0: none")                                                  \
	HTML_COLUMN(                                                                                            \
		calls,                                                                                          \
		"of an operation by itself the call's index, else -1; less that of the entry before, signed")

#define HTML_COLUMN_ENUM(name, meaning) HTML_COLUMN_##name,
enum html_column { HTML_COLUMNS(HTML_COLUMN_ENUM) HTML_COLUMN_COUNT };
#undef HTML_COLUMN_ENUM

#define HTML_SHARES \
	255 /* what the weights of a run add up to, with that of its largest class; those of an item are ns */
#define HTML_CLASS_LIST 32 /* from here on a byte of classes is how many follow */

/* One row of one level. */
struct html_lane {
	struct html_bytes columns[HTML_COLUMN_COUNT];
	uint64_t count;
	int64_t last_ns;
	int64_t last_call;
};

enum html_level_kind {
	HTML_LEVEL_RUNS,    /* so many columns */
	HTML_LEVEL_ALL,	    /* every item by itself */
	HTML_LEVEL_WINDOWS, /* likewise, of the windows only */
};

struct html_level {
	enum html_level_kind kind;
	int64_t column_ns; /* of runs; else 0 */
	const struct html_windows *windows;
	struct html_lane *lanes; /* owned; as the rows */
	size_t lane_count;
	uint64_t entry_count;
	struct raster *rasters; /* owned; while runs are made: as the rows */
};

/* Prepares a level; of runs, with so many columns of the whole recording.  Returns 0 or -ENOMEM; html_level_free in either
 * case. */
int html_level_open(struct html_level *level, enum html_level_kind kind, size_t row_count,
		    struct html_window all, int columns);

/* Fills all of them in one pass, for it takes long to find every gap.  Returns 0 or -ENOMEM. */
int html_levels_fill(struct html_level *levels, size_t count, const struct html_feed *feed);
void html_level_free(struct html_level *level);

#endif
