/*
 * try.h - what `rooflinectl try` and the library that it preloads must agree on, once.
 *
 * The command sets the variables; librooflinetry.so (try/) reads them, and writes at the end of each process what it
 * reached into a file of its own: ROOFLINE_TRY_OUTPUT, a dot, the process id.  The file begins with the line `name,value`;
 * the rows are those of TRY_COUNTS, then `passed:REASON` for each reason why a call was not put off, then `flush:FUNCTION`
 * for each driver function before which what was put off had to be given to the GPU.  Rows that are 0 are left out, but
 * for those of TRY_COUNTS.
 *
 * To add a row: one COUNT or REASON row here, and where try/ counts it.
 */
#ifndef ROOFLINE_TRY_H
#define ROOFLINE_TRY_H

#define TRY_LIBRARY "librooflinetry.so"

/* VARIABLE(constant, name, meaning) */
#define TRY_VARIABLES(VARIABLE)                                                             \
	VARIABLE(TRY_ENV_STRATEGIES, "ROOFLINE_TRY",                                        \
		 "strategies, by commas: graph,pool,fewer-waits,pinned")                    \
	VARIABLE(TRY_ENV_ALWAYS, "ROOFLINE_TRY_ALWAYS",                                     \
		 "1: it does not step aside where it does not pay, for tests")              \
	VARIABLE(TRY_ENV_UNWATCHED, "ROOFLINE_TRY_UNWATCHED",                               \
		 "1: as where the kernel does not tell when memory is unmapped, for tests") \
	VARIABLE(TRY_ENV_EVENTS_AT_ONCE, "ROOFLINE_TRY_EVENTS_AT_ONCE",                     \
		 "1: events are never put off, for tests")                                  \
	VARIABLE(TRY_ENV_WATCH, "ROOFLINE_TRY_WATCH",                                       \
		 "1: without a strategy, it takes the time of the run alone")               \
	VARIABLE(TRY_ENV_CALLS, "ROOFLINE_TRY_CALLS",                                       \
		 "a recording's folder: each process adds when it launched and waited")     \
	VARIABLE(TRY_ENV_MEMORY, "ROOFLINE_TRY_MEMORY",                                     \
		 "hashes of the GPU's memory go into this file, a dot and the process id")  \
	VARIABLE(TRY_ENV_OUTPUT, "ROOFLINE_TRY_OUTPUT",                                     \
		 "each process writes what was reached into this file, a dot and its id")

#define TRY_CONSTANT(constant, name, meaning) constant,
enum try_variable { TRY_VARIABLES(TRY_CONSTANT) TRY_VARIABLE_COUNT };

/* STRATEGY(constant, name, meaning).  Predictions apply them from the last to the first. */
#define TRY_STRATEGIES(STRATEGY)                                                               \
	STRATEGY(TRY_GRAPH, "graph", "launches that come again as CUDA graphs")                \
	STRATEGY(TRY_POOL, "pool", "freed memory is kept for the next allocation of its size") \
	STRATEGY(TRY_FEWER_WAITS, "fewer-waits",                                               \
		 "waits of which the host can see nothing are left out")                       \
	STRATEGY(TRY_PINNED, "pinned", "copies of pageable memory are made from pinned memory")

enum try_strategy { TRY_STRATEGIES(TRY_CONSTANT) TRY_STRATEGY_COUNT };

/* COUNT(constant, name, meaning) */
#define TRY_COUNTS(COUNT)                                                                         \
	COUNT(TRY_LAUNCHES_SEEN, "launches_seen", "launches of kernels that the program made")    \
	COUNT(TRY_LAUNCHES_DEFERRED, "launches_deferred", "of these, those that were put off")    \
	COUNT(TRY_MEMORY_SEEN, "memory_seen", "memsets, copies on the GPU, and of pinned memory") \
	COUNT(TRY_MEMORY_DEFERRED, "memory_deferred", "of these, those that were put off")        \
	COUNT(TRY_EVENTS_DEFERRED, "events_deferred",                                             \
	      "events recorded in a stream, or waited for in one, that were put off")             \
	COUNT(TRY_GRAPH_LAUNCHES, "graph_launches",                                               \
	      "graphs that were launched for what was put off")                                   \
	COUNT(TRY_GRAPH_NODES, "graph_nodes",                                                     \
	      "launches, memsets and copies that these graphs contained")                         \
	COUNT(TRY_NODES_SET, "graph_nodes_set", "of these, those whose parameters had changed")   \
	COUNT(TRY_INSTANTIATED, "graphs_instantiated", "graphs that were made")                   \
	COUNT(TRY_TIMER_FLUSHES, "timer_flushes", "times that nothing was called for a while")    \
	COUNT(TRY_LATE_ERRORS, "late_errors",                                                     \
	      "errors that a launch would have returned, and a later call did")                   \
	COUNT(TRY_ALLOCATIONS_SEEN, "allocations_seen", "calls of cuMemAlloc")                    \
	COUNT(TRY_ALLOCATIONS_REUSED, "allocations_reused",                                       \
	      "of these, those that got memory that was kept")                                    \
	COUNT(TRY_FREES_SEEN, "frees_seen", "calls of cuMemFree")                                 \
	COUNT(TRY_FREES_KEPT, "frees_kept", "of these, those whose memory was kept")              \
	COUNT(TRY_BLOCKS_RETURNED, "blocks_returned",                                             \
	      "blocks that were kept and then given back to the driver")                          \
	COUNT(TRY_WAITS_SEEN, "waits_seen", "waits for a stream, an event or everything")         \
	COUNT(TRY_WAITS_OVER, "waits_over", "of these, those for what was done already")          \
	COUNT(TRY_WAITS_LEFT_OUT, "waits_left_out",                                               \
	      "of these, those that were left out, as the host could not tell")                   \
	COUNT(TRY_WAITS_MADE, "waits_made_later",                                                 \
	      "waits that were made later, before a call that could tell")                        \
	COUNT(TRY_COPIES_SEEN, "copies_seen", "copies between the host and the GPU")              \
	COUNT(TRY_COPIES_STAGED, "copies_staged",                                                 \
	      "of these, those of pageable memory that went through pinned memory")               \
	COUNT(TRY_STAGED_BYTES, "staged_bytes", "bytes that went through it")                     \
	COUNT(TRY_COPIES_REGISTERED, "copies_registered",                                         \
	      "of all copies, those of memory that was registered for it")                        \
	COUNT(TRY_REGISTERED_BYTES, "registered_bytes", "bytes that were copied so")              \
	COUNT(TRY_RANGES_REGISTERED, "ranges_registered",                                         \
	      "times that memory of the program was registered")                                  \
	COUNT(TRY_RANGES_RELEASED, "ranges_released",                                             \
	      "times that it was released again, before the end")                                 \
	COUNT(TRY_UNWATCHED, "unwatched",                                                         \
	      "1: none was, as the kernel does not tell when it is unmapped (userfaultfd)")       \
	COUNT(TRY_RUN_NS, "run_ns",                                                               \
	      "nanoseconds from the first launch to the end of the last wait")                    \
	COUNT(TRY_STEPPED_ASIDE, "stepped_aside", "1: it cost more than it saved, and stopped")

enum try_count { TRY_COUNTS(TRY_CONSTANT) TRY_COUNT_COUNT };

#define TRY_PASSED "passed:"
#define TRY_FLUSH "flush:"

/* REASON(constant, name, meaning): why a launch, a free, a wait or a copy was passed on at once */
#define TRY_REASONS(REASON)                                                                     \
	REASON(TRY_CAPTURE, "capture", "the program captures a stream")                         \
	REASON(TRY_FIRST_TIME, "first_time", "whether the driver accepts it was not known yet") \
	REASON(TRY_ATTRIBUTES, "attributes", "launched with attributes")                        \
	REASON(TRY_PACKED, "packed_parameters", "its parameters came packed")                   \
	REASON(TRY_UNKNOWN_PARAMETERS, "unknown_parameters",                                    \
	       "the driver does not tell their sizes")                                          \
	REASON(TRY_LARGE_PARAMETERS, "large_parameters", "more parameters than are kept")       \
	REASON(TRY_LIMITS, "limits", "grid or block beyond what any GPU takes")                 \
	REASON(TRY_STREAM, "stream",                                                            \
	       "a stream with a priority, attributes, or of another context")                   \
	REASON(TRY_STOPPED, "stopped",                                                          \
	       "it has texture references, a part of a GPU, or streams with attributes")        \
	REASON(TRY_LAUNCH_BLOCKING, "launch_blocking",                                          \
	       "CUDA_LAUNCH_BLOCKING is set: each launch waits")                                \
	REASON(TRY_CONTEXT, "context", "no context, or one whose streams are not known")        \
	REASON(TRY_NOT_LAUNCH_BOUND, "not_launch_bound",                                        \
	       "the program does not launch often enough here")                                 \
	REASON(TRY_COMPARING, "comparing", "to measure how fast the program is without")        \
	REASON(TRY_NO_MEMORY, "no_memory", "no memory to keep it, or no thread to be had")      \
	REASON(TRY_MEMORY_RANGE, "memory_range",                                                \
	       "a memset or a copy that is not in memory from cuMemAlloc of its context")       \
	REASON(TRY_NEW_SIZE, "new_size", "the first free of memory of this size")               \
	REASON(TRY_OTHER_MEMORY, "other_memory",                                                \
	       "memory of another context, or not from cuMemAlloc")                             \
	REASON(TRY_MEMORY_FULL, "memory_full", "too little memory of the GPU is free")          \
	REASON(TRY_MEMORY_SHARED, "memory_shared",                                              \
	       "the program may share memory with others or take it in graphs")                 \
	REASON(TRY_HOST_MEMORY, "host_memory",                                                  \
	       "the host, or somebody else, may see memory that the GPU writes")                \
	REASON(TRY_PRINTS, "prints",                                                            \
	       "code that may print or assert, or of which that is not known")                  \
	REASON(TRY_OTHER_LIBRARY, "other_library",                                              \
	       "a library is loaded that gives memory of the GPU to other devices")             \
	REASON(TRY_OTHER_DEVICE, "other_device",                                                \
	       "a device is open to which memory of the GPU may be given")                      \
	REASON(TRY_OTHER_NAMESPACE, "other_namespace",                                          \
	       "libraries are loaded by dlmopen, where nothing is seen of what they call")      \
	REASON(TRY_SHOWN, "shown",                                                              \
	       "the GPU may do what the host sees, and not everything was waited for since")    \
	REASON(TRY_ERROR, "error", "the driver told an error when it was asked how far it is")  \
	REASON(TRY_ELSEWHERE, "elsewhere", "work in streams that are not followed")             \
	REASON(TRY_NOTHING_BETWEEN, "nothing_between",                                          \
	       "the program would wait for it anyway before it launches more")                  \
	REASON(TRY_SMALL_COPY, "small_copy",                                                    \
	       "a copy between the host and the GPU of less than a megabyte")                   \
	REASON(TRY_FIRST_COPIES, "first_copies",                                                \
	       "it had copied too little yet for pinned memory to be worth its price")          \
	REASON(TRY_KNOWN_MEMORY, "known_memory",                                                \
	       "memory of the host that the driver knows: pinned, registered or managed")       \
	REASON(TRY_BAD_ADDRESS, "bad_address",                                                  \
	       "memory of the host that cannot be read or written: the driver is to say so")    \
	REASON(TRY_STALLED, "stalled",                                                          \
	       "the GPU did not begin a copy for 0.1 s: it may wait for the program")           \
	REASON(TRY_FORKED, "forked", "a child process without exec")                            \
	REASON(TRY_ASIDE, "stepped_aside", "the library had stepped aside")

enum try_reason { TRY_REASONS(TRY_CONSTANT) TRY_REASON_COUNT };
#undef TRY_CONSTANT

#endif
