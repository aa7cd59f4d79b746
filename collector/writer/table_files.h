/*
 * table_files.h - the files of a recording: one per table, in a folder of this process.
 *
 * The application may close our descriptors, run out of them or fill the disk; nothing of that stops it.
 */
#ifndef ROOFLINE_TABLE_FILES_H
#define ROOFLINE_TABLE_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "roofline/trace_schema.h"
#include "size_limit.h"

/* Before table_files_open: what happens is written into folders of their own, segments, of which only the newest that
 * cover such a span of time, or have such a size together, are kept; what it refers to is kept whole.  0, 0: all in one. */
void table_files_keep_last(int64_t span_ns, int64_t bytes);

/* Begins the next segment when it is time, and removes those that are old.  Returns false when the disk can hold no more
 * files, and there is none but the newest to remove. */
bool table_files_turn(void);

/* Removes the oldest segment though it is needed, as its space is.  Returns false when there is none but the newest. */
bool table_files_drop_oldest(void);

/* Makes output/host.pid (with a number behind it when that exists) and its tables, for their owner only.  The folder
 * output is made, or is the user's own: no link, and nothing that others may write to.  Returns 0, or a negative errno after one warning. */
int table_files_open(const char *output);

/* Appends whole lines, after the header when the table is still empty: the disk may have been full
 * before.  On failure the table is cut back to whole lines.  Returns how many bytes are there to stay. */
size_t table_append(enum trace_table table, const char *bytes, size_t length);

/* Which limit so many more bytes would pass; is_last as in size_limit.h. */
enum size_limit table_files_limit(size_t bytes, bool is_last);

const char *table_files_folder(void); /* for people */

/* The descriptor of that folder, or a negative errno, within own_descriptors_do. */
int table_files_descriptor(void);

/* In a forked child.  Async-signal-safe; a descriptor that is no longer ours is left alone. */
void table_files_forget(void);

#endif
