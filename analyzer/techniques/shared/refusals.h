/*
 * refusals.h - why a technique would give other results, or would change nothing: reasons that several of them give.
 *
 * A reason is a sentence for people, and compared by its address.
 */
#ifndef ROOFLINE_REFUSALS_H
#define ROOFLINE_REFUSALS_H

/* REFUSAL(name, what people read) */
#define REFUSALS(REFUSAL)                                                                               \
	REFUSAL(nothing, "there is nothing that it would change")                                       \
	REFUSAL(irregular, "no sequence of launches repeats")                                           \
	REFUSAL(allocates, "memory is allocated or freed between the launches")                         \
	REFUSAL(blocking_copy, "a blocking copy, or one of pageable memory, cannot be captured")        \
	REFUSAL(has_graphs, "the work is launched by graphs already")                                   \
	REFUSAL(streamed, "the work is in several streams already")                                     \
	REFUSAL(device_work, "the device launches work itself, which is not in the trace")              \
	REFUSAL(untimed, "its kernels were counted by instrumented code, which leaves no times: "       \
			 "record without hardware counters")                                            \
	REFUSAL(not_measured, "the ceilings lack what it costs: run rooflinectl ceilings again")        \
	REFUSAL(not_hot, "no kernel was counted, on a single GPU, that atomics bind: record "           \
			 "--counters=atomics")                                                          \
	REFUSAL(library, "its kernels are a library's, which cannot be written otherwise")              \
	REFUSAL(elsewhere, "no two iterations of a loop follow one another in that range")              \
	REFUSAL(impossible,                                                                             \
		"what the replay predicts is faster than the operations, SMs and copies of "            \
		"the recording allow, so it is wrong")                                                  \
	REFUSAL(taken, "an earlier technique changes that already")                                     \
	REFUSAL(hands_over,                                                                             \
		"a host waits in it for copies to another GPU, and may tell the host of that one then") \
	REFUSAL(other_sort,                                                                             \
		"the first technique is of the other sort: some change what one GPU does, others "      \
		"what all ranks of a job do together")

#define REFUSAL_DECLARATION(name, text) extern const char refused_##name[];
REFUSALS(REFUSAL_DECLARATION)
#undef REFUSAL_DECLARATION

#endif
