/*
 * sm_activity.h - what the SMs did, compared with what the trace shows.
 *
 * Per device and only within sampled time: idle as the trace sees it, idle as the SMs see it, and why
 * they differ.  Per kernel: how active the SMs were over its life, how long its tail was, and whether
 * the SMs had equal shares.  Pure.
 *
 * In a sample, the busiest SM shows for how much of it any SM was active, and the operations of the
 * trace cover a part of it; the two overlap as far as they can.  What is left over on either side is a
 * difference.
 */
#ifndef ROOFLINE_SM_ACTIVITY_H
#define ROOFLINE_SM_ACTIVITY_H

#include "trace/profile.h"

/* DIFFERENCE(constant, key, title, meaning): time in which trace and SMs do not agree. */
#define SM_DIFFERENCES(DIFFERENCE)                                                                \
	DIFFERENCE(COPY, "copies", "copies and memsets",                                          \
		   "the trace has a copy or memset, which needs no SM")                           \
	DIFFERENCE(INSIDE, "inside_kernels", "inside kernels",                                    \
		   "the trace has a kernel or graph, and no SM worked: launching, draining, or "  \
		   "between its children")                                                        \
	DIFFERENCE(EDGE, "edges", "edges of operations",                                          \
		   "SMs worked within 2 us of an operation: clocks and records are no finer")     \
	DIFFERENCE(UNTRACED, "untraced", "untraced work",                                         \
		   "SMs worked and the trace has nothing: launched by the device, or by another " \
		   "process")

#define SM_DIFFERENCE_CONSTANT(constant, key, title, meaning) SM_##constant,
enum sm_difference { SM_DIFFERENCES(SM_DIFFERENCE_CONSTANT) SM_DIFFERENCE_COUNT };
#undef SM_DIFFERENCE_CONSTANT

/* All of it within sampled time. */
struct sm_activity_device {
	bool has_sms; /* SM activity was sampled; otherwise only sampled_ns and intervals are known */
	int64_t sampled_ns;    /* of samples: neither and both and all differences add up to it */
	uint64_t window_count; /* stretches of sampled time */
	uint64_t interval_ns;  /* length of a sample: the shortest of them */
	uint64_t
		longest_interval_ns; /* the longest: more where decoding did not keep up at first */
	uint64_t sample_count;
	int64_t traced_ns; /* an operation ran */
	int64_t active_ns; /* an SM was active */
	int64_t both_ns, neither_ns;
	int64_t difference_ns[SM_DIFFERENCE_COUNT];
	double mean_sms;	/* share of the SMs that were active, over all of the time */
	double mean_active_sms; /* the same while any was */
	double dram_bytes, l2_bytes, atomic_bytes;
	double pcie_read_bytes, pcie_write_bytes, nvlink_rx_bytes, nvlink_tx_bytes;
	double pcie_own_bytes; /* of pcie_write_bytes, those of sampling itself; 0: not known */
	/* of kernels[] below, those of this device */
	uint64_t kernel_launch_count;
	int64_t kernel_tail_ns;
};

/* Launches of one kernel that ran alone on the device and were sampled from start to end, with at
 * least SM_ACTIVITY_SAMPLES samples each. */
#define SM_ACTIVITY_SAMPLES 5

/* Of those, the ones with at least two blocks for each SM.  Fewer blocks leave SMs empty, or some with one and some
 * with two, however equal they are: that is a GPU that is not filled, and no imbalance. */
#define SM_ACTIVITY_BLOCKS 2
struct sm_activity_filled {
	int64_t span_ns, tail_ns;
	double sms, busiest_sm;
	int64_t all_ns; /* of all launches with so many blocks, also those that were not sampled */
};

struct sm_activity_kernel {
	uint32_t kernel; /* kernel_names[] */
	uint64_t launch_count;
	int64_t span_ns;	     /* of these launches */
	double sms;		     /* share of the SMs that were active, over its life */
	double least_sm, busiest_sm; /* share of its life for which they were active */
	int64_t tail_ns; /* from the last moment with TAIL_PART of the plateau until the end */
	double dram_byte_per_s;
	double tensor; /* share of tensor cores' cycles */
	struct sm_activity_filled filled;
};

struct sm_activity {
	struct sm_activity_device *devices; /* as profile->devices[] */
	size_t device_count;
	struct sm_activity_kernel *kernels; /* by span_ns, largest first */
	size_t kernel_count;
};

int sm_activity_build(struct sm_activity **out, const struct profile *profile, struct err *err);
/* Whether a launch of that shape has enough blocks to be one of sm_activity_filled; false where the number of
 * SMs is unknown. */
bool sm_activity_is_filled(const struct profile_device *device,
			   const struct profile_signature *launch);

/* Whether a few SMs work long after most others have ended: in the launches of sm_activity_filled, SMs are active for
 * less than 70% of the busiest one's time, and drain for at least 30% of the kernel's life. */
bool sm_activity_is_imbalanced(const struct sm_activity_kernel *kernel);

void sm_activity_free(struct sm_activity *activity);

const char *sm_difference_key(enum sm_difference difference);
const char *sm_difference_title(enum sm_difference difference);
const char *sm_difference_meaning(enum sm_difference difference);

#endif
