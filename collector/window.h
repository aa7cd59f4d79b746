/*
 * window.h - which moments are recorded: --delay, --duration, cudaProfilerStart/Stop.
 *
 * Records that begin outside are dropped when they are decoded.  Disabling CUPTI's kinds there was tried with CUPTI 13.0:
 * kernels that ran while a span ended were lost (45 of 50), and once kinds were enabled again kernels had other
 * correlation ids than their calls (docs/results/window-switching.txt).
 *
 * Thread-safe.
 */
#ifndef ROOFLINE_WINDOW_H
#define ROOFLINE_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

/* start_ns is when the collector was loaded; duration_ns 0 means without end.  With only_marked,
 * nothing is recorded until window_open is called. */
void window_init(int64_t start_ns, int64_t delay_ns, int64_t duration_ns, bool only_marked);

/* cudaProfilerStart and cudaProfilerStop; without only_marked they change nothing. */
void window_open(int64_t time_ns);
void window_close(int64_t time_ns);

/* True when a record that starts at time_ns is wanted.  O(log n) in the spans that were marked. */
bool window_contains(int64_t time_ns);

#endif
