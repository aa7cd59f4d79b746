/*
 * statistics.h - counts, totals and percentiles of what a recording holds.
 *
 * Pure arithmetic on a profile.  Every list is sorted by total time, largest
 * first, ties by name, so that reports are stable.  Each time is divided into what lies in the steady state and the
 * rest (steady_split.h); without a steady state that is unknown.
 */
#ifndef ROOFLINE_STATISTICS_H
#define ROOFLINE_STATISTICS_H

#include "analysis/time/steady_split.h"
#include "base/distribution.h"
#include "trace/profile.h"

/* All launches of one kernel name. */
struct kernel_statistics {
	const char *name; /* demangled */
	struct distribution time;
	struct steady_split split;
	uint32_t signature_count;      /* different launch shapes */
	uint32_t signature;	       /* signatures[]: the shape with the most time */
	uint32_t device, device_count; /* the first of those that it ran on */
	uint64_t cooperative_count;    /* launches in which all blocks run at the same time */
	uint64_t dependent_count; /* launches that may begin before the kernel before has ended */
	int32_t highest_priority,
		lowest_priority;   /* of its launches; a lower number is a higher one */
	const char *operator_name; /* of PyTorch, which launched most of it; NULL: none did */
	int64_t operator_ns;	   /* of its time */
};

/* All copies of one direction, memory kinds and asynchrony. */
struct copy_statistics {
	uint32_t kind, src_memory, dst_memory;
	bool is_async;
	struct distribution time;
	struct steady_split split;
	uint64_t bytes;
	double byte_per_s; /* bytes over total time */
};

struct memset_statistics {
	uint32_t memory;
	struct distribution time;
	struct steady_split split;
	uint64_t bytes;
};

struct call_statistics {
	uint32_t name; /* call_names[] */
	struct distribution time;
	struct steady_split split;
	uint64_t failed_count; /* result other than 0 (success) and 600 (not ready) */
};

/* All ranges of one domain and name. */
struct range_statistics {
	const char *domain, *name;
	struct distribution time;
	struct steady_split split;
	uint64_t op_count;   /* operations launched inside, by the thread of the range */
	int64_t gpu_ns;	     /* sum of their durations */
	int64_t span_ns;     /* sum over ranges of first start to last end of those operations */
	uint64_t open_count; /* ranges that never ended */
};

/* All launches of one executable graph of one process. */
struct graph_statistics {
	uint32_t process, graph;
	uint64_t launch_count;
	uint64_t op_count;	  /* node executions; 0 in graph-level recordings */
	uint32_t node_count;	  /* different nodes seen */
	struct distribution time; /* per launch: first node's start to last node's end */
	struct steady_split split;
	int64_t node_ns; /* sum of node durations; parallel branches count each */
	bool is_device_launched;
};

struct stream_statistics {
	uint32_t stream; /* streams[] */
	uint64_t op_count;
	int64_t busy_ns; /* union of its operations */
	struct steady_split split;
};

struct statistics {
	struct kernel_statistics *kernels;
	size_t kernel_count;
	struct copy_statistics *copies;
	size_t copy_count;
	struct memset_statistics *memsets;
	size_t memset_count;
	struct call_statistics *calls;
	size_t call_count;
	struct range_statistics *ranges;
	size_t range_count;
	struct graph_statistics *graphs;
	size_t graph_count;
	struct stream_statistics *streams;
	size_t stream_count;
	uint64_t launch_call_count; /* calls of class LAUNCH and GRAPH_LAUNCH */
	uint64_t sync_call_count;
};

/* steady_state: found (steady_state_find); NULL: how times are divided is not known. */
int statistics_collect(struct statistics **out, const struct profile *profile,
		       const struct steady_state *steady_state, struct err *err);
/* Those of kernels alone. */
int statistics_of_kernels(struct statistics **out, const struct profile *profile,
			  const struct steady_state *steady_state, struct err *err);
void statistics_free(struct statistics *statistics);

#endif
