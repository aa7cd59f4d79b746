/*
 * window.h - which moments are recorded: --delay, --duration, cudaProfilerStart/Stop, ctl stop and start.
 *
 * Records that begin outside, and operations that were submitted outside of a marked span, are dropped when they are
 * decoded.  After --duration CUPTI's kinds are disabled for good.  Disabling them outside of spans was tried with CUPTI 13.0: once they were enabled again kernels had other
 * correlation ids than their calls (docs/results/window-switching.txt).
 *
 * All times are of CLOCK_REALTIME, as CUPTI's are.  Spans last as long as they do by CLOCK_MONOTONIC: when the wall clock is
 * set, records from before and after it are distinguished by when that was.  Thread-safe.
 */
#ifndef ROOFLINE_WINDOW_H
#define ROOFLINE_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

/* start_ns is when the collector was loaded; duration_ns 0 means without end.  With only_marked,
 * nothing is recorded until window_open is called. */
void window_init(int64_t start_ns, int64_t delay_ns, int64_t duration_ns, bool only_marked);

/* cudaProfilerStart and cudaProfilerStop, with their correlation ids; without only_marked they change nothing. */
void window_open(int64_t time_ns, uint32_t call);
void window_close(int64_t time_ns, uint32_t call);

/* rooflinectl ctl stop and start: what begins in between is left out.  Until the first of them all is wanted. */
void window_pause(int64_t time_ns, bool is_paused);

/* Returns true when --duration was over so long ago. */
bool window_is_over_since(int64_t since_ns);

/* True when a record that starts at time_ns is wanted.  O(log n) in the spans that were marked. */
bool window_contains(int64_t time_ns);

/* The same of an operation of the GPU that the call with this correlation id submitted, 0 when none did: it may begin
 * long after the marked span that it was submitted in. */
bool window_contains_operation(int64_t time_ns, uint32_t call);

#endif
