/*
 * roofline.h - every kernel, every counted graph and the whole application under its roofs.
 *
 * Pure arithmetic on a profile; knows no output.  Work comes from counters and time from launches
 * that were not counted (analysis/counters/counted.h); a rate is work by the sum of kernel durations, so
 * that idle time is no part of it.  A roof's share is the rate by the roof, or for arithmetic and
 * tensor operations the sum below; the roof with the largest share binds.
 *
 * - Memory roofs are independent: each level has a bandwidth of its own.
 * - FP64, FP32 and FP16 have units of their own and are independent, too.
 * - All tensor types run in the same unit: their shares add up (tensor_share), and each type's
 *   share is measured against that sum when it binds.
 * - The L2 atomic unit has its share straight from counters: the cycles in which its hottest
 *   slice was busy by the cycles that passed.  It needs no measured ceiling.
 *
 * A share above 1 + ROOFLINE_TOLERANCE cannot be: is_wrong, and no success.  Tensor roofs are measured
 * on random data, at which power holds the chip back; data with many zeros may be faster (an H200: 887
 * instead of 841 TFLOP/s of BF16), so of these only what also exceeds the datasheet's peak is wrong.
 *
 * The regime: the time from the start of a launch to the start of what follows it falls into three
 * parts, which add up exactly, and the largest decides.  No threshold is set by hand.
 *
 *   explained   duration * share of the binding roof: no kernel could do this work faster
 *   latency     the rest of the duration: no roof is the reason
 *   idle        the device waited for what follows
 *
 * explained: memory-, compute- or atomic-bound by the roof.  latency: latency-bound; so with no
 * idle time that is a kernel below half of every roof.  idle: launch-bound when the causes launch,
 * synchronization, host decision, those of graphs, cross-stream dependency and device scheduling
 * (analysis/time/gaps.h) have at least half of it, host-bound otherwise.  Idle time that tracing took, that may be child
 * kernels', or beside a counted launch, is left out;
 * where that leaves nothing, the launch roof gives the least that there is.  unknown: idle time
 * is not the largest part, and either no share is known, or none explains the time and some of
 * memory and arithmetic was not counted.  Of the application, copies count as busy time.
 *
 * The launch roof: launches of kernels of duration d, one after the other, can at best keep the
 * device busy for the share d / max(d, p), where p is the period of empty kernels: launch_period of
 * the ceilings, graph_node for nodes of graphs, graph_launch for whole graphs.  So the rate with
 * gaps counted in, rate * d / (d + idle), lies below rate * d / max(d, p).
 */
#ifndef ROOFLINE_ANALYSIS_ROOFLINE_H
#define ROOFLINE_ANALYSIS_ROOFLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/profile.h"

struct ceilings; /* analysis/counters/ceilings.h */
struct counted;	 /* analysis/counters/counted.h */

#define ROOFLINE_TOLERANCE 0.02

/* ROOF(name, title), in the order that reports show them */
#define ROOFLINE_MEMORY_ROOFS(ROOF) \
	ROOF(dram, "DRAM")          \
	ROOF(l2, "L2")              \
	ROOF(l1, "L1")              \
	ROOF(shared, "shared memory")

#define ROOFLINE_COMPUTE_ROOFS(ROOF)     \
	ROOF(fp64, "FP64")               \
	ROOF(fp32, "FP32")               \
	ROOF(fp16, "FP16")               \
	ROOF(tensor_fp64, "tensor FP64") \
	ROOF(tensor_tf32, "tensor TF32") \
	ROOF(tensor_bf16, "tensor BF16") \
	ROOF(tensor_fp16, "tensor FP16") \
	ROOF(tensor_fp8, "tensor FP8")   \
	ROOF(tensor_int8, "tensor INT8")

#define ROOFLINE_ROOF_CONSTANT(name, title) ROOF_##name,
enum roofline_roof {
	ROOFLINE_MEMORY_ROOFS(ROOFLINE_ROOF_CONSTANT) ROOFLINE_COMPUTE_ROOFS(ROOFLINE_ROOF_CONSTANT)
		ROOF_atomic_unit, /* cycles of the hottest slice */
	ROOF_COUNT,
	ROOF_NONE = ROOF_COUNT,
	ROOF_MEMORY_END = ROOF_fp64,	/* memory roofs are [0, this) */
	ROOF_TENSOR = ROOF_tensor_fp64, /* tensor roofs are [this, ROOF_COMPUTE_END) */
	ROOF_COMPUTE_END = ROOF_atomic_unit,
};
#undef ROOFLINE_ROOF_CONSTANT

/* STATE(constant, json key, meaning): whether a quantity is known, and why not */
#define ROOFLINE_STATES(STATE)                                                                      \
	STATE(NOT_ASKED, "not_asked", "the recording was not asked to count it")                    \
	STATE(NOT_ON_CHIP, "not_on_chip", "this chip has no counter for it")                        \
	STATE(NOT_SAMPLED, "not_sampled", "no launch of it was counted for this")                   \
	STATE(NOT_TRUSTED, "not_trusted",                                                           \
	      "counted, but not trusted: constants and conversions count as well, and the machine " \
	      "code that tells them apart is not in this recording: record again")                  \
	STATE(KNOWN, "known", "counted")

#define ROOFLINE_STATE_CONSTANT(constant, key, meaning) ROOFLINE_##constant,
enum roofline_state { ROOFLINE_STATES(ROOFLINE_STATE_CONSTANT) ROOFLINE_STATE_COUNT };
#undef ROOFLINE_STATE_CONSTANT

/* REGIME(constant, json key, title, meaning) */
#define ROOFLINE_REGIMES(REGIME)                                                                  \
	REGIME(UNKNOWN_BOUND, "unknown", "unknown",                                               \
	       "the GPU was mostly busy, but counters or ceilings to judge its work are missing") \
	REGIME(LAUNCH_BOUND, "launch", "launch-bound",                                            \
	       "most time passes between kernels: launching and waiting for them")                \
	REGIME(HOST_BOUND, "host", "host-bound",                                                  \
	       "most time passes between kernels: the host is busy with other things")            \
	REGIME(MEMORY_BOUND, "memory", "memory-bound", "a memory roof explains most of the time") \
	REGIME(COMPUTE_BOUND, "compute", "compute-bound",                                         \
	       "an arithmetic roof explains most of the time")                                    \
	REGIME(ATOMIC_BOUND, "atomic", "atomic-bound",                                            \
	       "the hottest slice of the L2 atomic unit explains most of the time")               \
	REGIME(LATENCY_BOUND, "latency", "latency-bound",                                         \
	       "kernels run, but no roof explains their time: waits, imbalance, low occupancy")

#define ROOFLINE_REGIME_CONSTANT(constant, key, title, meaning) ROOFLINE_##constant,
enum roofline_regime { ROOFLINE_REGIMES(ROOFLINE_REGIME_CONSTANT) ROOFLINE_REGIME_COUNT };
#undef ROOFLINE_REGIME_CONSTANT

/* Bytes of a memory level, operations of a precision, or busy cycles of the hottest slice. */
struct roofline_quantity {
	enum roofline_state state; /* all else is 0 unless it is ROOFLINE_KNOWN */
	double total;		   /* of all launches */
	double per_launch;
	double per_s; /* by the kernels' own time; 0 when that is not known */
	double share; /* of the roof; 0 without a roof or time */
	/* Where it is not trusted, or mixed with what is none: what was counted, of all launches; 0 otherwise. */
	double at_most;
};

/* What launch cost and idle time make of it.  Times are means per launch unless said otherwise. */
struct roofline_launch {
	uint64_t launch_count; /* launches whose idle time is known; 0: none */
	double duration_ns;    /* x of the launch roofline */
	double idle_ns; /* after it (any operation of the application), until the next of its device */
	double launch_idle_ns; /* the part of idle_ns that launching caused, see above */
	double period_ns; /* duration_ns + idle_ns; of the application duration_ns / busy_share */
	/* duration_ns / period_ns: y; 0 when unknown.  Of the application: in which kernels ran, of all that was
	 * looked at */
	double busy_share;
	double roof_period_ns; /* p above; 0 when not measured */
	double roof_share;     /* d / max(d, p); 0 when not measured */
	double achieved_share; /* busy_share / roof_share; 0 when either is unknown */
	double lost_ns; /* idle time of these launches together, as it was: not scaled to others */
	double launch_lost_ns;	/* the part of it that launching caused */
	double flop_per_s;	/* with gaps counted in */
	double dram_byte_per_s; /* the same */
	double binding_share;	/* share of the binding roof with gaps counted in */
};

struct roofline_point {
	uint32_t subject; /* kernel_names[], counted_graphs[], 0 for the application */
	const char *name; /* of a kernel; "" otherwise.  Borrowed from the profile */
	uint64_t launch_count;
	uint64_t timed_count; /* launches that were timed */
	double time_ns;	 /* of all launches: mean of the timed ones of each signature * launches */
	bool is_counted; /* at least one quantity is known */
	uint64_t least_sample_count, most_sample_count; /* over its metrics */
	double covered_share; /* of the time: signatures that were counted; least of the known */

	struct roofline_quantity quantities[ROOF_COUNT];
	double flops;	   /* known operations of all precisions, INT8 as well; of all launches */
	double flop_per_s; /* without gaps */
	double intensity[ROOF_MEMORY_END]; /* FLOP/byte of that level; 0 when unknown */
	bool has_flops;			   /* some precision is known (flops may still be 0) */
	bool has_uncounted_tensor; /* tensor instructions ran whose operations were not counted */

	double tensor_share;	    /* sum over tensor types */
	enum roofline_roof binding; /* ROOF_NONE: no share is known */
	double binding_share;	    /* of a tensor type: tensor_share */
	bool is_wrong;		    /* the binding share cannot be: wrong data */

	struct roofline_launch launch;
	enum roofline_regime regime;
};

struct roofline {
	double roofs[ROOF_COUNT]; /* B/s or FLOP/s; 0: no ceiling.  DRAM: the best of its modes */
	double tensor_peaks[ROOF_COMPUTE_END]; /* FLOP/s of the datasheet, of tensor roofs; or 0 */
	bool has_ceilings;
	bool is_datasheet; /* the roofs are a manufacturer's figures */
	double launch_period_ns, graph_node_ns, graph_launch_ns; /* 0: not measured */
	struct roofline_point *kernels;				 /* all that ran, most time first */
	size_t kernel_count;
	size_t counted_kernel_count;   /* of them with counters; 0 in a recording without */
	struct roofline_point *graphs; /* counted as a whole, most time first */
	size_t graph_count;
	struct roofline_point application; /* kernels and counted graphs, each once */
	bool has_wrong;			   /* some point is_wrong */
};

/*
 * counted: counted_build() of the same profile.  ceilings: may be NULL, then no share is known but
 * the atomic unit's; the result borrows nothing of them.  The caller frees with roofline_free.
 * Fails with -ENOMEM only.
 */
int roofline_build(struct roofline **out, const struct profile *profile,
		   const struct counted *counted, const struct ceilings *ceilings, struct err *err);
void roofline_free(struct roofline *roofline);

/* Share of a roof from which on a kernel is about as fast as that lets it be. */
#define ROOFLINE_AT_ROOF 0.8

/* Whether it is about as fast as its nearest roof lets it be. */
bool roofline_is_at_roof(const struct roofline_point *point);

/* The same, and DRAM is the nearest. */
bool roofline_is_at_dram(const struct roofline_point *point);

const char *roofline_roof_key(enum roofline_roof roof);	  /* "dram", "tensor_bf16", "atomic_unit" */
const char *roofline_roof_title(enum roofline_roof roof); /* for people */
const char *roofline_state_key(enum roofline_state state);
const char *roofline_state_meaning(enum roofline_state state);
const char *roofline_regime_key(enum roofline_regime regime);
const char *roofline_regime_title(enum roofline_regime regime);
const char *roofline_regime_meaning(enum roofline_regime regime);

#endif
