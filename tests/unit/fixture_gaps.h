/*
 * fixture_gaps.h - the gaps of a profile made by hand, for tests of what they are laid to.
 */
#ifndef ROOFLINE_TEST_FIXTURE_GAPS_H
#define ROOFLINE_TEST_FIXTURE_GAPS_H

#include "analysis/time/gaps.h"
#include "profile_builder.h"

struct gaps_result {
	struct timeline *timeline;
	struct gap_analysis *gaps;
};

/* Finishes the profile; keeps so many of the longest gaps. */
struct gaps_result gaps_of(struct builder *b, size_t keep);
void gaps_done(struct builder *b, struct gaps_result result);

/* Nothing but the expected causes on the first device: pairs of cause and time, ended by -1.  Frees the profile. */
void gaps_expect(struct builder *b, ...);

/* Kernel P runs [0, 1000); N starts at 11000, launched by a call [start_ns, end_ns) of thread 0. */
struct builder *gap_before(const char *name, enum profile_call_class class, int64_t start_ns,
			   int64_t end_ns);
struct builder *gap_launched(int64_t start_ns, int64_t end_ns); /* by cudaLaunchKernel */

#endif
