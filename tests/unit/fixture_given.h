/*
 * fixture_given.h - which memory the kernels of a loop were given, written down as words, for tests of techniques.
 */
#ifndef ROOFLINE_TEST_FIXTURE_GIVEN_H
#define ROOFLINE_TEST_FIXTURE_GIVEN_H

#include "fixture_loop.h"

#define GIVEN_MOST 8 /* accesses of a kernel */

struct given_loop {
	struct loop_fixture loop;
	struct report report;
	struct accesses accesses;
	struct profile_allocation allocations[26];
	uint32_t of_op[BUILDER_ROOM];
	struct access_list lists[BUILDER_ROOM];
	struct kernel_access items[BUILDER_ROOM * GIVEN_MOST];
};

/* A word for each kernel of an iteration, separated by spaces: "rA,wB" reads A and changes B; "u" is not told which, "A~" is
 * A and B in turn, H is pinned memory; "?": nothing is known, and a word that ends with * is that of a kernel which is
 * launched with several numbers.  The caller frees with given_free. */
struct given_loop *given_loop_of(const char *usual, const char *words);
void given_free(struct given_loop *given);

#endif
