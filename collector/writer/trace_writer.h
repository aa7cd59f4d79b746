/*
 * trace_writer.h - rows in, files out: the recording of this process.
 *
 * Rows are gathered as text by the thread that decodes them (struct trace_rows)
 * and appended to their tables in whole lines, one write per chunk, so that the
 * files are good up to the last chunk whenever the process dies.  Strings and
 * launch signatures are interned and written before the rows that refer to them.
 * What cannot be written is counted, reported once, and never stops the application.
 * Knows nothing of CUPTI.
 */
#ifndef ROOFLINE_TRACE_WRITER_H
#define ROOFLINE_TRACE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "roofline/trace_schema.h"

#define LOSS_CONSTANT(name, unit, meaning) LOSS_##name,
enum trace_loss { TRACE_LOSS_KINDS(LOSS_CONSTANT) LOSS_COUNT };
#undef LOSS_CONSTANT

/* Which kernels to keep, asked once per new signature. */
typedef bool (*trace_kernel_filter)(const char *mangled_name);

/* Makes output/host.pid (with a number behind it when that exists) and its tables.  filter may be
 * NULL.  Returns 0, or a negative errno after one warning on stderr. */
int trace_writer_open(const char *output, trace_kernel_filter filter);

/* Before it is opened: only the newest is kept, a span of time or a size (table_files.h). */
void trace_writer_keep_last(int64_t span_ns, int64_t bytes);

const char *trace_writer_folder(void); /* of this process, once it is open */
uint64_t trace_writer_bytes(void);     /* written until now */

/* Writes pending losses, then the seal row, and accepts no more rows; later ones are only counted.  sealed_ns is CLOCK_REALTIME. */
void trace_writer_seal(int64_t sealed_ns);

/* Whether the size of the recording or the space left on its disk has ended it: it is sealed, and rows are only
 * counted.  There is no need to ask CUPTI for more. */
bool trace_writer_has_ended(void);

/* In a forked child: forgets everything and closes the descriptors, so that the parent's files are
 * left alone.  Async-signal-safe. */
void trace_writer_abandon(void);

/* Rows gathered by one thread.  get returns NULL only when memory is out; put writes them. */
struct trace_rows;
struct trace_rows *trace_rows_get(void);
void trace_rows_put(struct trace_rows *rows);

/* trace_write_kernels(rows, &row) and so on: appends one row.  rows may be NULL (counted as lost). */
#define TRACE_WRITE_PROTOTYPE(table, columns) \
	void trace_write_##table(struct trace_rows *rows, const struct trace_##table##_row *row);
TRACE_TABLES(TRACE_WRITE_PROTOTYPE)
#undef TRACE_WRITE_PROTOTYPE

/* Id of a string in names.csv; 0 for NULL.  The text is copied. */
uint32_t trace_name(const char *text);

#define TRACE_SIGNATURE_FILTERED 0 /* the filter does not want this kernel */

/* What adds to a new signature what CUPTI does not tell, called under the writer's lock: it must write nothing.  Two
 * kernels of one name and shape are one signature, that of the first. */
typedef void (*trace_signature_completer)(struct trace_signatures_row *row,
					  const char *mangled_name);
void trace_signature_complete(trace_signature_completer completer);

/* Id of a launch signature (row->id and row->name are ignored). */
uint32_t trace_signature(const struct trace_signatures_row *row, const char *mangled_name);

/* Counts a loss.  Written to losses.csv by trace_losses_write, so that it survives a kill; what cannot
 * be written is kept for the next call. */
void trace_loss_add(enum trace_loss kind, uint64_t count);
void trace_losses_write(int64_t time_ns);

/* So much of it was counted until now. */
uint64_t trace_loss_count(enum trace_loss kind);

/* One row of process.csv. */
void trace_property(struct trace_rows *rows, const char *key, const char *value);
__attribute__((format(printf, 3, 4))) void
trace_property_format(struct trace_rows *rows, const char *key, const char *format, ...);

#endif
