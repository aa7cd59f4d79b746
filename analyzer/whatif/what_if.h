/*
 * what_if.h - strategies applied to all loops of a device where they can be, and what that would bring.
 *
 * To add a strategy: one row here, what it is applied to in strategies.c, and what it does to a run in
 * techniques/changes.c (calls), changes_ops.c (operations), changes_device.c (decisions of the device) or changes_update.c
 * (graphs that are kept).
 */
#ifndef ROOFLINE_WHAT_IF_H
#define ROOFLINE_WHAT_IF_H

#include "analysis/report.h"
#include "replay/prediction.h"

/* STRATEGY(constant, what the advice calls it, its option of whatif, that option's argument, its help, what
 * "changed" counts or ""), in the order in which they are listed.  The argument: NONE, N, or RANGE, which may be left
 * out: of those that change loops. */
#define STRATEGIES(STRATEGY)                                                                       \
	STRATEGY(GRAPH, "cuda_graph", "graph", RANGE,                                              \
		 "each iteration of a repeating loop is one launch of a CUDA graph", "")           \
	STRATEGY(FEWER_WAITS, "remove_syncs", "fewer-waits", RANGE,                                \
		 "no waits of loops after which the host reads nothing", "waits are gone")         \
	STRATEGY(DECIDE, "device_decision", "decide", RANGE,                                       \
		 "the device decides what the host reads a few bytes for",                         \
		 "decisions are the device's")                                                     \
	STRATEGY(LAUNCH, "dynamic_parallelism", "device-launch", RANGE,                            \
		 "what the host launches for data that it reads is launched by the device",        \
		 "kernels are launched by the device")                                             \
	STRATEGY(UPDATE, "update_graph", "update", NONE,                                           \
		 "graphs that are instantiated again and again are updated", "graphs are updates") \
	STRATEGY(OVERLAP, "overlap", "overlap", RANGE,                                             \
		 "copies beside kernels: iterations in turn in three streams, from pinned memory", \
		 "copies are of pinned memory")                                                    \
	STRATEGY(PINNED, "pinned_memory", "pinned", NONE,                                          \
		 "copies of pageable memory are of pinned memory", "copies are of pinned memory")  \
	STRATEGY(PREALLOCATE, "preallocate", "preallocate", RANGE,                                 \
		 "memory of loops is allocated before them",                                       \
		 "calls that allocate or free are gone")                                           \
	STRATEGY(CONCURRENT, "concurrent_kernels", "streams", RANGE,                               \
		 "small kernels of an iteration side by side, as if none needed another's result", \
		 "kernels share the GPU")                                                          \
	STRATEGY(PERSISTENT, "persistent_kernel", "persistent", RANGE,                             \
		 "a loop of kernels is one kernel with grid-wide barriers",                        \
		 "kernels are steps of one")                                                       \
	STRATEGY(QUEUE, "dynamic_queue", "queue", NONE,                                            \
		 "kernels whose SMs have unequal shares take work items from a queue",             \
		 "kernels are balanced")                                                           \
	STRATEGY(BATCH, "batch_atomics", "batch", N,                                               \
		 "kernels that atomics bind merge N of them into one, in threads that do as much", \
		 "kernels merge atomics")                                                          \
	STRATEGY(AGGREGATE, "aggregate_atomics", "aggregate", N,                                   \
		 "likewise, of the threads of a warp or of a block", "kernels merge atomics")      \
	STRATEGY(NARROW, "fewer_bytes", "narrow", N,                                               \
		 "kernels at DRAM's roof move N times fewer bytes", "kernels at DRAM's roof")      \
	STRATEGY(FUSE, "fuse", "fuse", RANGE,                                                      \
		 "neighbours of an iteration with the same grid are one kernel",                   \
		 "kernels go into the one before them")                                            \
	STRATEGY(DEPENDENT, "dependent_launch", "dependent", RANGE,                                \
		 "a kernel has been set up when the one before it ends",                           \
		 "kernels are set up before they start")

#define STRATEGY_CONSTANT(constant, name, option, argument, help, changed) STRATEGY_##constant,
enum strategy { STRATEGIES(STRATEGY_CONSTANT) STRATEGY_COUNT };
#undef STRATEGY_CONSTANT

/* What the advice calls it ("cuda_graph"), and its option of whatif, without the dashes ("graph"). */
const char *strategy_name(enum strategy strategy);
const char *strategy_option(enum strategy strategy);

/* Whether its option takes N. */
bool strategy_has_number(enum strategy strategy);

#define NARROW_MOST 64 /* a value of 64 bits as one bit */

/* Calls made in the occurrences of a range: by first, apart. */
struct places {
	struct place *items; /* owned; with no call in it, not NULL either */
	size_t count;
};

/* The recording made ready for predictions, once for all rules. */
struct what_ifs {
	const struct report *report; /* borrowed; NULL: without what samples tell */
	struct model *model;
	struct loops loops;
	uint32_t *alike; /* owned; by sequence: the first one that is of the same loop */
	struct predictor predictor;
	struct fusion fusion; /* owned; what counters tell of kernels that could be fused */
	struct place
		*places; /* owned; of the range that is asked for; NULL: of each strategy's own */
	size_t place_count;
	struct places within
		[STRATEGY_COUNT]; /* owned; where each changes loops; items NULL: everywhere */
	/* By strategy: N of its option, at least 2.  Of AGGREGATE 0: for each kernel what atomics.h advises. */
	uint64_t numbers[STRATEGY_COUNT];
};

struct what_if {
	struct prediction prediction;
	size_t loop_count;	    /* different ones that change */
	uint64_t iteration_count;   /* of all of them */
	uint64_t most_nodes;	    /* of a graph */
	double vanished_bytes;	    /* of DRAM, which fused kernels neither write nor read */
	size_t changed_count;	    /* waits, decisions, copies, allocations, or kernels */
	const struct loop *largest; /* borrowed; the loop with most time that changes, or NULL */
	bool is_supposed;	    /* it rests on what no recording tells */
	enum refusal refusal;	    /* REFUSED_NONE: predicted; else why nothing is */
};

/* range: the NVTX range whose occurrences are the part that a prediction is for; NULL: the loops that
 * change.  Returns 0 or -ENOMEM; the caller frees with what_ifs_free, also after a failure. */
int what_ifs_open(struct what_ifs *all, const struct profile *profile,
		  const struct ceilings *ceilings, const char *range);

/* From now on the strategy changes only iterations of loops that lie in occurrences of that NVTX range; for those that
 * change loops.  The predictor must be usable.  Returns 0 or -ENOMEM. */
int what_ifs_keep_within(struct what_ifs *all, enum strategy strategy, const char *range);
void what_ifs_free(struct what_ifs *all);

/* What a recording's time (of the range, or of the device with most operations) is without what
 * recording added, as a share; 1 where nothing can be said.  Returns 0 or -ENOMEM. */
int what_if_not_recorded(double *share, const struct profile *profile,
			 const struct ceilings *ceilings, const char *range);

/* The device with most operations; 0 without any. */
size_t what_if_main_device(const struct profile *profile);

/* Several strategies at once, in one replay.  A loop that one of them changes is left alone by those
 * after it, so their order matters.  parts: one of each strategy, what it changed beside the others or
 * why nothing, without a prediction of its own.  out is all zero where nothing changes.  The predictor
 * must be usable.  Returns 0 or -ENOMEM. */
int what_if_together(struct prediction *out, struct what_if *parts, const enum strategy *strategies,
		     size_t count, const struct what_ifs *all, size_t device);
int what_if_alone(struct what_if *out, enum strategy strategy, const struct what_ifs *all,
		  size_t device);

/* The same run, to look at: of what changes between these moments of the recording.  Returns 0 or
 * -ENOMEM; the caller frees with side_by_side_free, also after a failure. */
struct side_by_side;
int what_if_side_by_side(struct side_by_side *out, const enum strategy *strategies, size_t count,
			 const struct what_ifs *all, size_t device, int64_t from_ns, int64_t to_ns);

#endif
