/*
 * counter_rows.h - what was counted becomes rows of metrics.csv, counted.csv and counters.csv.
 *
 * Keeps the launches of the open pass until the pass is read; our thread writes the rows (counter_queue.h).
 * Knows no policy and no CUDA call.  Calls
 * must not overlap, whatever the context: ids run on from one to the next.
 */
#ifndef ROOFLINE_COUNTER_ROWS_H
#define ROOFLINE_COUNTER_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters/counter_session.h"
#include "counters/launch_call.h"

/* A launch that was counted, until its pass is read. */
struct counted_launch {
	uint32_t correlation, like;
	uint64_t warps;
	bool is_graph;
	bool is_void; /* other work ran beside it */
};

/* Those of one context; all 0 at first but for whose they are. */
struct counter_rows {
	uint32_t device, context;
	uint32_t metric_ids[METRIC_LIMIT]; /* metrics.csv, of the session's list */
	struct counted_launch launches[SESSION_RANGES];
	size_t launch_count;
	bool has_tensor_kernels; /* some launch that was read used the tensor cores */
};

/* A session was opened: what it counts.  Before its first pass is read. */
void counter_rows_write_metrics(struct counter_rows *rows, const struct counter_config *config);

/* Reads the open pass, as counter_session_read, and writes its launches with their values.  Returns what
 * CUPTI said; when it failed, the launches are written and counted as lost.  None is left either way. */
CUptiResult counter_rows_read_pass(struct counter_rows *rows, struct counter_session *session,
				   unsigned int pass, bool is_last);

/* The open pass will never be read: its launches are counted as lost. */
void counter_rows_lose_pass(struct counter_rows *rows);

/* Time that the program lost to us, for the analyzer to subtract.  Realtime. */
void counter_rows_write_overhead(uint32_t correlation, int64_t start_ns, int64_t end_ns);

/* The kernel that a replay repeated, with the time of its call. */
void counter_rows_write_replayed(const struct counter_rows *rows, const struct launch_call *call,
				 uint32_t correlation, int64_t start_ns, int64_t end_ns);

#endif
