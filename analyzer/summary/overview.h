/*
 * overview.h - what a summary tells: its ranks, hosts, kernels, idle time and collectives as rows.
 *
 * The rows borrow from the summary.  Pure.
 */
#ifndef ROOFLINE_OVERVIEW_H
#define ROOFLINE_OVERVIEW_H

#include "summary/clocks.h"
#include "summary/summary.h"
#include "summary/waits.h"

/* Durations of one kind; percentiles are within SKETCH_ERROR. */
struct overview_times {
	uint64_t count;
	int64_t total_ns, min_ns, max_ns;
	double mean_ns, p50_ns, p99_ns;
};

struct overview_rank {
	char *name; /* owned */
	const char *host;
	const struct summary_rank *rank;
	const char
		*cause; /* of most of its idle time: a key of GAP_CAUSES; NULL: none, or unknown */
	int64_t cause_ns;
	struct rank_waits waits;
};

struct overview_host {
	const char *name;
	uint64_t rank_count;
	const char *compared_with; /* the host whose clock it was compared with; NULL: with none */
	struct clock clock;
};

struct overview_kernel {
	const char *name;
	struct overview_times times;
};

struct overview_cause {
	const char *cause, *title;
	int64_t idle_ns;	    /* of all ranks, each gap's parts by their own causes */
	struct overview_times gaps; /* whose main cause it is */
};

struct overview_group {
	const char *key;
	uint64_t rank_count, host_count;
	uint64_t collective_count; /* of the rank with the most */
	uint64_t matched_count;	   /* of those that were kept, met by at least two ranks */
	uint64_t one_of;	   /* of so many one was kept */
	int64_t wait_ns;
	struct overview_times skew;
	const char *latest; /* rank: last at the collective with the largest skew; NULL: none */
};

struct overview {
	const struct summary *summary;
	struct clock *clocks;
	struct waits waits;
	struct job_times all; /* of all ranks, added up */
	int64_t wait_ns;      /* likewise, of collectives that were kept */
	uint64_t lost_count, cut_off_count, damaged_count; /* rows; ranks */
	struct sentences problems;   /* ranks that stand twice, of several runs */
	struct overview_rank *ranks; /* by rank */
	size_t rank_count;
	struct overview_host *hosts; /* by name */
	size_t host_count;
	struct overview_kernel *
		kernels; /* longest first, then by name; those that did not fit are last: "(others)" */
	size_t kernel_count;
	struct overview_cause causes[GAP_CAUSE_COUNT]; /* most idle time first */
	size_t cause_count;
	struct overview_group *groups; /* longest waits first, then by key */
	size_t group_count;
};

/* Fails with -ENOMEM; overview_free in either case. */
int overview_build(struct overview *overview, const struct summary *summary);
void overview_free(struct overview *overview);

#endif
