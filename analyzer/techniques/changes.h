/*
 * changes.h - what a strategy does to a run: one function per strategy fills in a struct change.
 *
 * A change is refused where the strategy would give other results, and the reason is kept: it is what
 * a report says of strategies that were considered.
 */
#ifndef ROOFLINE_CHANGES_H
#define ROOFLINE_CHANGES_H

#include "analysis/time/gaps.h"
#include "techniques/fusion.h"
#include "replay/replay.h"
#include "replay/loops.h"

/* REFUSAL(constant, what people read) */
#define REFUSALS(REFUSAL)                                                                               \
	REFUSAL(NONE, "")                                                                               \
	REFUSAL(NOTHING, "there is nothing that it would change")                                       \
	REFUSAL(IRREGULAR, "what is launched does not repeat")                                          \
	REFUSAL(READS_BACK, "the host reads a result before it launches what follows")                  \
	REFUSAL(ALLOCATES, "memory is allocated or freed in between")                                   \
	REFUSAL(BLOCKING_COPY, "a blocking copy, or one of pageable memory, cannot be captured")        \
	REFUSAL(CALLS_BACK, "a function of the host runs in between, in a graph as well")               \
	REFUSAL(LOADS_CODE, "code is loaded or compiled in between")                                    \
	REFUSAL(NO_DECISION, "the host reads nothing small before it launches what follows")            \
	REFUSAL(GRID_VARIES,                                                                            \
		"the grid of a kernel follows from what the host reads; a node's is fixed")             \
	REFUSAL(NO_CHILDREN,                                                                            \
		"after what the host reads no kernel is launched in a number or size that varies")      \
	REFUSAL(STREAMED, "its work is in several streams already")                                     \
	REFUSAL(NO_COPIES, "there are no copies beside kernels to overlap")                             \
	REFUSAL(HAS_GRAPHS, "it is launched by graphs already")                                         \
	REFUSAL(DEVICE_WORK, "the device launches work itself, which is not in the trace")              \
	REFUSAL(FULL_GPU, "no kernel leaves half of the GPU to others")                                 \
	REFUSAL(NOT_KERNELS, "more than kernels is between the first and the last of them")             \
	REFUSAL(NOT_ALIKE, "no kernels of the same grid follow one another in an iteration")            \
	REFUSAL(GRID_WIDE,                                                                              \
		"by its counters no kernel just goes on with what the one before it wrote")             \
	REFUSAL(NO_NEIGHBOURS, "no kernel follows another one in its stream")                           \
	REFUSAL(NOT_RESIDENT, "not all blocks of a kernel fit on the GPU at once")                      \
	REFUSAL(BALANCED, "no kernel was sampled whose SMs have unequal shares")                        \
	REFUSAL(NOT_HOT,                                                                                \
		"no kernel was counted, on a single GPU, that atomics bind: record --counters=atomics") \
	REFUSAL(NOT_AT_ROOF,                                                                            \
		"no kernel was counted, on a single GPU, at DRAM's roof: record --counters=roofline")   \
	REFUSAL(NOT_REBUILT, "no thread instantiates a graph for nearly every launch of one")           \
	REFUSAL(OTHER_NODES,                                                                            \
		"no graph has as many recorded nodes as the one instantiated before it")                \
	REFUSAL(NOT_MEASURED, "the ceilings lack what it costs: measure them anew")                     \
	REFUSAL(ELSEWHERE, "no two iterations of a loop follow one another in that range")              \
	REFUSAL(TAKEN, "what it would change is changed by a strategy before it")

#define REFUSAL_CONSTANT(constant, text) REFUSED_##constant,
enum refusal { REFUSALS(REFUSAL_CONSTANT) REFUSAL_COUNT };
#undef REFUSAL_CONSTANT

/* A copy to the host of at most so many bytes is a flag or a count that the host decides by. */
#define DECISION_BYTES GAP_DECISION_BYTES

/* One of up to so many is a list that the host goes through to launch something for what it finds in it. */
#define QUESTION_BYTES 65536

const char *refusal_text(enum refusal refusal);

/* Room for a change of calls, and of operations' lengths where with_ops; nothing is changed yet.
 * Returns 0 or -ENOMEM; the caller frees with change_free, also after a failure. */
int change_begin(struct change *change, const struct model *model, bool with_ops);

/* Room for lanes, as yet none; for change_to_overlapped and change_to_concurrent.  Returns 0 or -ENOMEM. */
#define LANES_LEAST 2
#define LANES_MOST 32 /* CUDA_DEVICE_MAX_CONNECTIONS at most */
int change_begin_lanes(struct change *change, const struct model *model, uint32_t lane_count);
void change_free(struct change *change);

/* Calls [first, end) of a thread wait no more where the host reads nothing that was copied to it
 * since the wait before; the last wait of them stays.  Returns how many waits that are. */
size_t change_drop_waits(struct change *change, const struct model *model, size_t first,
			 size_t end);

/* Memory is allocated and freed before and after the sequence, and the waits for that go.  Returns how many
 * calls that allocate or free it drops. */
size_t change_drop_allocations(struct change *change, const struct model *model,
			       const struct loop *loop);

/* Whether grids or sizes differ from iteration to iteration: a graph of it is updated before each launch. */
bool change_needs_updates(const struct loop *loop);

/* What became of a loop's iterations. */
struct captured {
	uint64_t node_count; /* of the largest graph */
	bool is_supposed; /* pauses of the host are gone, of which no recording tells that they are spared */
};

/* Each iteration becomes one launch of a graph.  Waits that are not needed go.  Where the host computes for long
 * between launches it does so still; what seems to be the way to the next launch, as in an interpreter, stays only
 * where is_least. */
enum refusal change_to_graph(struct change *change, const struct model *model,
			     const struct loop *loop, bool is_least, struct captured *captured);

/* Of a kernel that is launched after the host has read something. */
struct asked_kernel {
	uint32_t round; /* from question to question, in which it was launched last */
	uint64_t count,
		usual_count; /* launches in that round, and in the one before that it was in */
	uint64_t blocks;     /* of its last launch */
	bool grid_varies;
	bool varies; /* in number or in grid: data says so */
};

/* The host reads a few bytes and launches what they say: the whole sequence becomes one graph in which
 * the device decides, without these copies and waits; decision_ns each.  kernels: room for as many as there are
 * kernel_names[].  decision_count: of them. */
enum refusal change_to_decided(struct change *change, const struct model *model,
			       const struct loop *loop, int64_t decision_ns,
			       struct asked_kernel *kernels, uint64_t *decision_count);

/* The host reads up to QUESTION_BYTES, and what it launches then varies: these kernels are launched by the kernel
 * before what was read, without the copies and waits.  Side by side as far as they fit, and where is_least one after
 * the other.  kernels: room for as many as there are kernel_names[].  launched_count: by the device. */
enum refusal change_to_launched(struct change *change, const struct model *model,
				const struct loop *loop, bool is_least,
				struct asked_kernel *kernels, uint64_t *launched_count);

/* Whether a sequence's operations, or of them only kernels, are in so many streams already. */
bool change_is_streamed(const struct model *model, const struct loop *loop, bool only_kernels,
			size_t stream_count);

/* Copies and kernels of an iteration in one of three streams, one after the other, all of them
 * asynchronous. */
enum refusal change_to_overlapped(struct change *change, const struct model *model,
				  const struct loop *loop);

/* Copies of a device and pageable memory, or only those in lanes, take the time that pinned memory would at that
 * rate (bytes per second, each direction).  What has another length by a change already keeps that.  Returns how many
 * copies that are. */
size_t change_to_pinned(struct change *change, const struct model *model, size_t device,
			bool only_lanes, double to_device, double to_host);

/* Copies in lanes take so many times as long: there are copies in both directions at once. */
void change_to_shared_link(struct change *change, const struct model *model, size_t device,
			   double times);

/* Kernels of an iteration run side by side as far as the GPU has SMs for their blocks, as if none needed
 * another's result; copies stand between them.  kernel_count: of all iterations. */
enum refusal change_to_concurrent(struct change *change, const struct model *model,
				  const struct loop *loop, uint64_t *kernel_count);

/* What fusing changed, added up. */
struct fused {
	uint64_t kernel_count;	/* that go into the one before them */
	uint64_t handed_count;	/* those of them that go on with what it wrote */
	double vanished_bytes;	/* of DRAM */
	double saved_ns;	/* by that alone, without launches and gaps */
	uint32_t first, second; /* signatures[]: who hands on most; only where handed_count */
	double most_handed_bytes;
};

/* Kernels of an iteration that follow one another in a stream, with the same grid and blocks and nothing between
 * them, become one.  That takes as long as all of them, without what it need not write and read again as far as
 * counters tell (fusion.h).  That no block needs what another one wrote is supposed, but where counters tell
 * against it.  change: NULL only to look; with op_ns where bytes shall vanish.  Adds to fused. */
enum refusal change_to_fused(struct change *change, const struct model *model,
			     const struct loop *loop, const struct fusion *fusion,
			     struct fused *fused);

/* Kernels that follow another one in a stream have been set up when it ends (programmatic dependent launch).  What
 * they can do before they need its results comes on top. */
enum refusal change_to_dependent(struct change *change, const struct model *model,
				 const struct loop *loop, uint64_t *kernel_count);

/* The whole sequence becomes one kernel whose blocks stay, and wait for each other where a kernel ended. */
enum refusal change_to_persistent(struct change *change, const struct model *model,
				  const struct loop *loop, uint64_t *kernel_count);

/* Graphs that a thread instantiates for nearly every launch, at least so many. */
#define REBUILT_LEAST 8

/* What keeping executable graphs changed of a thread. */
struct updated {
	uint64_t graph_count;
	size_t first_call, end_call; /* from the first call that changes to the last one */
};

/* Executable graphs are kept: of a thread's graphs that have as many nodes as the one instantiated before them each is
 * an update of that, which is destroyed no more, and launched not for the first time. */
enum refusal change_to_updated(struct change *change, const struct model *model, size_t thread,
			       struct updated *updated);

/* Whether a launch of that shape is meant. */
typedef bool change_concerns(const struct profile_device *device,
			     const struct profile_signature *launch);

/* Launches of that kernel (kernel_names[]), of the shapes that concerns says or all where that is NULL, take this share
 * of their time; what has another length by a change already keeps that.  Returns how many they are. */
size_t change_to_share(struct change *change, const struct model *model, size_t device,
		       uint32_t kernel, change_concerns *concerns, double share);

#endif
