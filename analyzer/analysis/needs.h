/*
 * needs.h - what an answer needs of a recording: tables and analyses.  The rest is neither read nor computed.
 *
 * Each section of a report says what it needs (output/sections.h); one that says nothing needs everything.
 * when_steady is the part of steady_state that needs no causes of idle time, kernel_statistics that of statistics which
 * is about kernels.
 * To add an analysis: a row here, after those that it needs, and its row in ANALYSES_OF_PROFILE or its call in
 * report.c; no section asks for it then but those that need everything.
 */
#ifndef ROOFLINE_NEEDS_H
#define ROOFLINE_NEEDS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/profile.h"

/* ANALYSIS(member of struct report, the analyses that it is made from) */
#define ANALYSES(ANALYSIS)                                   \
	ANALYSIS(events, 0)                                  \
	ANALYSIS(timeline, 0)                                \
	ANALYSIS(gaps, NEED_timeline)                        \
	ANALYSIS(when_steady, NEED_timeline)                 \
	ANALYSIS(steady_state, NEED_gaps | NEED_when_steady) \
	ANALYSIS(kernel_statistics, NEED_when_steady)        \
	ANALYSIS(statistics, NEED_kernel_statistics)         \
	ANALYSIS(counted, NEED_gaps)                         \
	ANALYSIS(roofline, NEED_counted)                     \
	ANALYSIS(device_graphs, 0)                           \
	ANALYSIS(graph_join, 0)                              \
	ANALYSIS(power, 0)                                   \
	ANALYSIS(jit, 0)                                     \
	ANALYSIS(memory, 0)                                  \
	ANALYSIS(managed_memory, 0)                          \
	ANALYSIS(accesses, NEED_memory)                      \
	ANALYSIS(sm_activity, 0)                             \
	ANALYSIS(device_work, 0)                             \
	ANALYSIS(collectives, 0)                             \
	ANALYSIS(collective_sizes, NEED_collectives)         \
	ANALYSIS(job, NEED_gaps | NEED_collectives)          \
	ANALYSIS(sampled, NEED_sm_activity)                  \
	ANALYSIS(not_visible, NEED_timeline | NEED_statistics | NEED_device_graphs | NEED_sampled)

#define ANALYSIS_NUMBER(name, needs) ANALYSIS_##name,
enum { ANALYSES(ANALYSIS_NUMBER) };
#undef ANALYSIS_NUMBER

/* NEED_gaps: gaps, and all that they need. */
#define ANALYSIS_NEED(name, needs) NEED_##name = 1 << ANALYSIS_##name | (needs),
enum analysis_need { ANALYSES(ANALYSIS_NEED) };
#undef ANALYSIS_NEED

/* Of what is as long as the recording itself: done only where it is named, not with everything else. */
#define ANALYSES_ON_REQUEST NEED_events

struct report_needs {
	uint64_t
		tables; /* bits TABLE(name); 0: everything is needed, and of analyses those on request */
	uint32_t analyses;
	bool keeps_clocks; /* times of each host are by its own clock, also where they could be by one (host_clocks.h) */
};

#endif
