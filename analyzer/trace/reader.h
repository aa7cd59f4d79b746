/*
 * reader.h - one table of one process folder, row by row.
 *
 * Streams a CSV file through libcsv and hands every usable row to a callback
 * as the structure that trace_schema.h generates.  Whatever cannot be used is
 * counted with file and line of the first one and reading goes on, so that a
 * damaged recording is still a recording.  Knows the schema and nothing of
 * profiles.  Several tables may be read at once, each by its own thread.
 */
#ifndef ROOFLINE_READER_H
#define ROOFLINE_READER_H

#include <stdint.h>

#include "base/err.h"
#include "roofline/trace_schema.h"
#include "trace/recording.h"

/* A row of any table; read the member of the table that was asked for. */
#define READER_ROW_MEMBER(table, columns) struct trace_##table##_row table;
union trace_row {
	TRACE_TABLES(READER_ROW_MEMBER)
};
#undef READER_ROW_MEMBER

/* What was lost while reading: the kinds of struct profile_loss that the reader adds itself. */
#define READER_LOSS_KINDS(KIND)                                                                     \
	KIND(unreadable_rows, "rows or files that do not have the form of their table")             \
	KIND(cut_off_rows,                                                                          \
	     "last lines without an end: the process was killed while writing, or the file is not " \
	     "whole: how many rows are missing behind them is unknown")                             \
	KIND(missing_tables,                                                                        \
	     "tables that are empty or not there, and should be: copy the folder of the process "   \
	     "again, or record again")                                                              \
	KIND(nul_bytes, "zero bytes: the machine went down while writing")                          \
	KIND(invalid_times,                                                                         \
	     "rows whose start or end is zero, reversed or absurd; calls of a thread that overlap") \
	KIND(impossible_times,                                                                      \
	     "operations of an import that begin before their launch, or overlap others of their "  \
	     "stream: left out")                                                                    \
	KIND(lost_operations, "launches of an import whose operation is not there")                 \
	KIND(orphan_ids, "rows that refer to something that no table describes")                    \
	KIND(newer_schema,                                                                          \
	     "recordings by a newer collector: some columns may mean something else")               \
	KIND(copied_processes, "folders of a process that another folder has already: left out")

#define READER_LOSS_CONSTANT(kind, meaning) READER_##kind,
enum reader_loss { READER_LOSS_KINDS(READER_LOSS_CONSTANT) READER_LOSS_COUNT };
#undef READER_LOSS_CONSTANT

#define READER_NO_HEADER "the first line, with the names of the columns, is missing"

/* Counts by kind and where the first of each was; all zero to begin with. */
struct reader_losses {
	uint64_t count[READER_LOSS_COUNT];
	char first[READER_LOSS_COUNT][320]; /* host.pid/kernels.csv:17: what is wrong */
};

/* Where a row stands, for messages: borrowed, valid during the callback. */
struct reader_place {
	const char *process; /* host.pid */
	enum trace_table table;
	uint64_t line;
};

/* Takes one row; its texts live until it returns.  A negative result stops reading. */
typedef int (*reader_row)(const union trace_row *row, const struct reader_place *place,
			  void *context);

/*
 * Reads a process's TABLE.csv and calls each() for every usable row.  Columns that
 * the schema does not know are skipped, columns that the file lacks are 0 or "".
 * Returns 0, also for a file with no rows; -ENOENT when there is no such file
 * (not described in err); what each() returned; or another negative errno when
 * the file cannot be read or memory runs out.
 */
int reader_read_table(const struct recording_process *process, enum trace_table table,
		      reader_row each, void *context, struct reader_losses *losses,
		      struct err *err);

/* How lines of whole numbers are read: by libcsv, which says what is right, or by a shorter way, which gives the same
 * (plain_lines.h), of a large table by several threads (chunks.h).  Tests compare these, the last with chunks of a few
 * lines. */
enum reader_way { READER_SHORT, READER_CSV, READER_SMALL_CHUNKS };

int reader_read_table_by(enum reader_way way, const struct recording_process *process,
			 enum trace_table table, reader_row each, void *context,
			 struct reader_losses *losses, struct err *err);

/* Counts one loss; the first of its kind leaves its place and description (may be NULL). */
__attribute__((format(printf, 4, 5))) void reader_count_loss(struct reader_losses *losses,
							     enum reader_loss kind,
							     const struct reader_place *place,
							     const char *format, ...);

/* Adds from to losses. */
void reader_merge_losses(struct reader_losses *losses, const struct reader_losses *from);

const char *reader_table_name(enum trace_table table); /* "kernels"; the file is kernels.csv */
int reader_find_table(const char *file_name);	       /* "kernels.csv"; or TRACE_TABLE_COUNT */
const char *reader_loss_name(enum reader_loss kind);   /* "unreadable_rows" */

#endif
