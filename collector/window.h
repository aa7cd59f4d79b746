/*
 * window.h - which moments are recorded: --delay, --duration, cudaProfilerStart/Stop.
 *
 * Recording is never switched off in CUPTI (enabling kinds again mid-run gave
 * wrong correlation ids up to 13.1 U1); records outside are dropped when decoded.
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

/* True when a record that starts at time_ns is wanted. */
bool window_contains(int64_t time_ns);

#endif
