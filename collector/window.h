/*
 * window.h - which moments are recorded: --delay, --duration, cudaProfilerStart/Stop.
 *
 * Records that begin outside are dropped when they are decoded; window_switch.h sees to it that few are made.
 * Thread-safe.
 */
#ifndef ROOFLINE_WINDOW_H
#define ROOFLINE_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

/* CUPTI needs a moment to begin, and so do the calls that belong to the first operations. */
#define WINDOW_EARLY_NS INT64_C(100000000)

/* start_ns is when the collector was loaded; duration_ns 0 means without end.  With only_marked,
 * nothing is recorded until window_open is called. */
void window_init(int64_t start_ns, int64_t delay_ns, int64_t duration_ns, bool only_marked);

/* cudaProfilerStart and cudaProfilerStop; without only_marked they change nothing. */
void window_open(int64_t time_ns);
void window_close(int64_t time_ns);

/* True when a record that starts at time_ns is wanted.  O(log n) in the spans that were marked. */
bool window_contains(int64_t time_ns);

/* Whether records that are made now may be wanted, and when that changes next unless the program marks
 * something; INT64_MAX for never. */
bool window_is_near(int64_t now_ns);
int64_t window_next_edge_ns(int64_t now_ns);

#endif
