/*
 * counter_queue.h - rows of counters on their way from a launch to our thread, which writes them.
 *
 * A launch must not wait for a file, nor for who writes one.  The queue is bounded: what finds no room is
 * counted as unwritten rows.
 */
#ifndef ROOFLINE_COUNTER_QUEUE_H
#define ROOFLINE_COUNTER_QUEUE_H

#include "roofline/trace_schema.h"

#define QUEUE_ROWS 65536 /* reading a pass makes some thousand, and takes 20 ms */

/* Allocates it.  Without memory all rows are lost, and counted.  wake: called when a quarter is taken, so that
 * our thread comes before its time. */
void counter_queue_init(void (*wake)(void));

/* On any thread; the row is copied, and what it borrows as well. */
void counter_queue_put_counted(const struct trace_counted_row *row);
void counter_queue_put_value(const struct trace_counters_row *row);
void counter_queue_put_overhead(const struct trace_overheads_row *row); /* its name is set later */
void counter_queue_put_metric(const struct trace_metrics_row *row, const char *name);
void counter_queue_put_property(const char *key, const char *value); /* key: static */
void counter_queue_put_kernel(const struct trace_kernels_row *row,
			      const struct trace_signatures_row *signature, const char *name);

/* Writes what there is.  On our thread. */
void counter_queue_write(void);

/* The same before the recording is sealed; rows that a signal handler left half put are counted as lost. */
void counter_queue_write_last(void);

#endif
