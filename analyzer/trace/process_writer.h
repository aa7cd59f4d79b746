/*
 * process_writer.h - a process folder of a recording, written row by row by the analyzer.
 *
 * The collector writes recordings itself, in somebody else's process; this is for what is made of other tools' files.
 * The first failure is kept: adding goes on without effect, and closing tells of it.
 */
#ifndef ROOFLINE_PROCESS_WRITER_H
#define ROOFLINE_PROCESS_WRITER_H

#include <stdint.h>

#include "base/err.h"
#include "roofline/trace_schema.h"
#include "trace/reader.h"

struct process_writer;

/* path: of the folder, which is made.  The caller frees with process_writer_close, also after a failure. */
int process_writer_open(struct process_writer **out, const char *path, struct err *err);

/* Appends a row; the member of the table counts. */
void process_writer_add(struct process_writer *writer, enum trace_table table,
			const union trace_row *row);

/* Appends a fact to process.csv: without effect where value is NULL or "". */
void process_writer_fact(struct process_writer *writer, const char *key, const char *value);
void process_writer_number(struct process_writer *writer, const char *key, int64_t value);

/* names.id of the text, with its row in names.csv: 0 for NULL and "". */
uint32_t process_writer_name(struct process_writer *writer, const char *text);

/* signatures.id of what looks like this, with its row; id is not looked at. */
uint32_t process_writer_signature(struct process_writer *writer,
				  const struct trace_signatures_row *signature);

/* The first failure of those above, or 0. */
int process_writer_failure(const struct process_writer *writer, struct err *err);

/* Writes what is still in memory.  Returns rc where that is negative, the first failure, or 0.  NULL is fine. */
int process_writer_close(struct process_writer *writer, int rc, struct err *err);

#endif
