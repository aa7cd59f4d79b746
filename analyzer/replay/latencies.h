/*
 * latencies.h - how long the steps of a run typically take, where that step decided.
 *
 * Pure; linear in calls and operations but for sorting samples.
 */
#ifndef ROOFLINE_LATENCIES_H
#define ROOFLINE_LATENCIES_H

#include "replay/model.h"

/* What the operation before in a stream was, and the next one; what lies between them differs by that.  A copy is one
 * from the host or to it, by its engine; memsets, and copies on the device, are like kernels. */
enum latency_gap {
	GAP_AFTER_KERNEL,   /* to another one */
	GAP_KERNEL_TO_COPY, /* now after 1 us and now after 9 */
	GAP_COPY_TO_KERNEL,
	GAP_COPY_TO_COPY,
	GAP_AFTER_GRAPH, /* the last operation of a graph launch */
	/* Kernel to copy where that was submitted when the kernel had ended.  A copy has an engine of its own, which learns of
	 * the end of a kernel that it waits for only some us later (docs/results/stamped-gaps.txt). */
	GAP_KERNEL_TO_LATE_COPY,
	LATENCY_GAP_COUNT
};

/* Of a call's name and what it submits, ns.  Starts are of calls of usual length; without samples as on any idle
 * stream. */
struct launch_latencies {
	int64_t call_ns; /* call entered to returned */
	int64_t idle_ns; /* call entered to operation started, on an idle stream */
	int64_t busy_ns; /* likewise on one that had work when the call was entered */
};

/* What a call submits: kernels, and copies by their direction. */
enum latency_kind {
	LATENCY_KERNEL,
	LATENCY_COPY_IN,
	LATENCY_COPY_OUT,
	LATENCY_COPY_OTHER,
	LATENCY_KIND_COUNT
};

/* Of a device, ns. */
struct device_latencies {
	int64_t launch_ns; /* call entered to operation started, on an idle stream, of all calls */
	size_t launch_sample_count;	   /* 0: it is a guess */
	struct launch_latencies *launches; /* owned; STEP_KIND_COUNT for each call name */
	const struct launch_latencies
		*common_kernel; /* of launches: the commonest kernel launch; NULL: none */
	const struct launch_latencies *common_graph; /* likewise launch of a graph */
	int64_t gap_ns
		[LATENCY_GAP_COUNT]; /* between queued operations of a stream, mean without outliers */
	size_t gap_sample_count[LATENCY_GAP_COUNT];
	int64_t kernel_gap_ns; /* of GAP_AFTER_KERNEL, the median: what is usual, where gap_ns is the mean */
};

/* Of a model whose operations know what they wait for.  Fills in devices[], as profile->devices[] and zeroed, and of the
 * traits of operations what lies behind their predecessors; latencies_free also after a failure.  Returns 0 or
 * -ENOMEM. */
int latencies_measure(struct model *model);
void latencies_free(struct device_latencies *devices, size_t device_count);

/* What starting typically takes from a call, in the state in which the operation found its stream.  A call
 * that took longer than others, as the first launch of a kernel does, submits that much later: the extension. */
int64_t latencies_launch_ns(const struct model *model, size_t op);
int64_t latencies_extension_ns(const struct model *model, const struct profile_op *op);

/* And after an operation: op, the next one, may be PROFILE_NONE: one of another stream, which follows a copy on its engine
 * after 5 to 8 us in tests/pairs/copy_overlap.streamed, as a kernel does.  What runs in between and is not recorded, as a
 * function of the host, takes what it took. */
enum latency_gap latencies_gap_after(const struct model *model, uint32_t before, uint32_t op);
int64_t latencies_gap_ns(const struct model *model, uint32_t before, uint32_t op);
/* Likewise behind its predecessor, which it must have. */
static inline int64_t latencies_own_gap_ns(const struct model *model, uint32_t op)
{
	const struct op_traits traits = model->op_traits[op];
	const struct profile_op *ops = model->profile->ops;

	if (traits.is_unrecorded)
		return ops[op].start_ns - model_ready_ns(model, op);
	return model->devices[profile_op_device(model->profile, &ops[model_predecessor(model, op)])]
		.gap_ns[traits.gap];
}

#endif
