/*
 * device_work.h - work that the GPU launched itself, which no trace shows: found in samples.
 *
 * A run of work (sample_runs.h) with which an operation of the trace begins is that operation's.  Any
 * other was launched by the device, or by another process; so were the blocks that a run of the trace has
 * beyond those of the operations that begin in it.  Such a burst belongs to the operation in which it
 * began: a graph that the device launched, or a kernel; outside all of them, to the one that ended
 * last before: children that run when their parent is done (tail launches) lie behind its record.  Nodes of a graph that was recorded as a whole are
 * no bursts: they may as well be the host's.  Pure.
 */
#ifndef ROOFLINE_DEVICE_WORK_H
#define ROOFLINE_DEVICE_WORK_H

#include "base/distribution.h"
#include "trace/profile.h"

/* One device-launched kernel, or several that ran without a pause or side by side. */
struct burst {
	uint32_t device;
	int64_t start_ns, end_ns;
	uint32_t op;	/* ops[] that it belongs to, PROFILE_NONE when there is none before it */
	bool is_inside; /* that operation still ran */
	bool is_beside; /* it began while blocks of that operation ran, and the end is that of both */
	uint64_t dispatch_count, block_count;
	double dram_bytes; /* read and written; 0 when DRAM was not sampled */
};

/* All launches of one kernel, or of one graph, that bursts belong to. */
struct launcher {
	bool is_graph;
	uint32_t kernel;	  /* kernel_names[], of a kernel */
	uint32_t process, graph;  /* executable graph, of a graph */
	bool is_inside;		  /* bursts began while it ran; otherwise after it */
	uint64_t launch_count;	  /* launches that were sampled from start to end */
	struct distribution time; /* of bursts */
	uint64_t dispatch_count, block_count;
	double dram_bytes;
	int64_t span_ns; /* of those launches */
	int64_t own_ns;	 /* of that, in runs of their own */
	int64_t quiet_ns; /* of that, with no more than one SM active: the device launches, or waits */
};

struct device_work {
	struct burst *bursts; /* by device, then start */
	size_t burst_count;
	struct launcher *launchers; /* by time of bursts, largest first */
	size_t launcher_count;
	uint64_t single_block_count; /* dispatches of one block that no operation explains */
};

int device_work_build(struct device_work **out, const struct profile *profile, struct err *err);
void device_work_free(struct device_work *work);

#endif
