/*
 * difference.h - whether runs with a strategy wrote the same as those without one.
 *
 * A program that prints how long something took writes something else each time.  So the runs without a strategy are
 * compared with each other first: in lines in which they differ only the words have to be equal in which they agree.
 */
#ifndef ROOFLINE_TRIAL_DIFFERENCE_H
#define ROOFLINE_TRIAL_DIFFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "trial/text.h"

/* Whether what was written is equal; the worse the further down.  MATCH(constant, key of JSON) */
#define TRIAL_MATCHES(MATCH)                                                                   \
	MATCH(TRIAL_EQUAL, "equal")	/* byte for byte */                                    \
	MATCH(TRIAL_AGREES, "agrees")	/* but for words in which bare runs differ */          \
	MATCH(TRIAL_UNKNOWN, "unknown") /* bare runs differ by more, or nothing is compared */ \
	MATCH(TRIAL_DIFFERENT, "different")

#define TRIAL_MATCH_CONSTANT(constant, key) constant,
enum trial_match { TRIAL_MATCHES(TRIAL_MATCH_CONSTANT) TRIAL_MATCH_COUNT };
#undef TRIAL_MATCH_CONSTANT

const char *trial_match_key(enum trial_match match);

/* A line of one text and of another; NULL: that one has ended. */
struct trial_lines {
	uint64_t number;   /* from 1; 0: none */
	char *one, *other; /* owned; cut where they are long */
};

struct trial_difference {
	enum trial_match match;
	struct trial_lines first;   /* TRIAL_DIFFERENT: of a bare run and one with the strategy */
	struct trial_lines varying; /* of two bare runs, where they differ */
	bool is_whole; /* texts are too large to be kept: where they differ is not known */
	char *suggested_mask; /* owned; TRIAL_DIFFERENT and lines differ by numbers alone, first by a time: for --ignore */
	uint64_t line_count;	/* of the first bare run */
	uint64_t varying_count; /* lines in which bare runs differ by words */
};

/* Compares; there is at least one of each.  Returns 0 or -ENOMEM; the caller frees with trial_difference_free, also
 * after a failure. */
int trial_compare(struct trial_difference *out, const struct trial_text *bare, size_t bare_count,
		  const struct trial_text *tried, size_t tried_count);
void trial_difference_free(struct trial_difference *difference);

#endif
