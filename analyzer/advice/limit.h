/*
 * limit.h - what limits a run: the largest part of the time of the device with most operations, in its steady state where
 * it has one: start-up and what follows the loop happen once.  Where all devices have one it is their mean that is looked
 * at, and of kernels what they take in it.
 */
#ifndef ROOFLINE_LIMIT_H
#define ROOFLINE_LIMIT_H

#include "analysis/report.h"

enum limit_kind {
	LIMIT_NO_WORK, /* no operation was recorded */
	LIMIT_IDLE,
	LIMIT_CHILDREN, /* what a kernel launched itself seems to run, which no trace shows: not called idle */
	LIMIT_COPIES,  /* and memsets, while no kernel runs */
	LIMIT_KERNELS, /* and graphs that were recorded as a whole */
};

struct limit {
	enum limit_kind kind;
	size_t device;
	size_t device_count; /* that all times are the mean of */
	bool is_steady;	     /* all times are those of the steady state */
	int64_t run_ns; /* from the first operation to the last; this and wall_ns without what recording added */
	int64_t recording_ns; /* what that is of the run */
	int64_t wall_ns;      /* of the run, or of its steady state */
	int64_t idle_ns, kernel_ns;
	int64_t children_ns;  /* idle, and probably at work on what kernels launched */
	int64_t part_ns;      /* of wall_ns: idle, copies alone, or kernels */
	enum gap_cause cause; /* of the idle time most; that of recording is none */
	int64_t cause_ns;
	enum gap_cause second_cause; /* with most after that */
	int64_t second_cause_ns;     /* 0: there is no other */
	/* Of the kernels of all devices, or of the graphs where these were counted as a whole: the one that would gain most
	 * if it came to its nearest roof (one without counters all its time), and its share of their time.  NULL without
	 * kernels. */
	const struct roofline_point *kernel;
	bool is_graph;
	bool has_roof; /* what share of a roof it reaches is known */
	double kernel_share;
	double at_roof_share; /* of the kernels' time: those at their roof */
};

/* "the time", "the steady state": what its shares are of. */
const char *limit_whole(const struct limit *limit);

/* The report must have its ceilings, where there are some. */
struct limit limit_find(const struct report *report);

/* "saxpy", "graph 3": for a sentence. */
struct limit_name {
	char text[64];
};
struct limit_name limit_kernel_name(const struct limit *limit, const struct report *report);

/* Whether kernels run nearly all the time and nearly all of that at their roofs: nothing is left to win but less work. */
bool limit_is_at_roof(const struct limit *limit);

#endif
