/*
 * loop_iterations.h - the iterations of one loop whose usual iteration is known.
 *
 * An iteration begins where the loop's head is found, or ends after its tail: tokens that a period has only once.
 * Iterations are followed from the model back and on, as far as they are like it, or are again soon.
 */
#ifndef ROOFLINE_LOOP_ITERATIONS_H
#define ROOFLINE_LOOP_ITERATIONS_H

#include "analysis/loops/loop_tokens.h"

#include <stdbool.h>

/* What an iteration usually is: tokens [model, model + period), which come again right after. */
struct candidate {
	const struct tokens *tokens;
	size_t model, period;
	/* tokens at its beginning, and at its end, which a period has only once; 0: it has no such */
	size_t head_length, tail_length;
	bool is_uninterrupted;
	size_t floor, ceiling; /* tokens that its iterations are looked for between */
};

/* A loop's iterations, and how they compare with it. */
struct iterations {
	struct candidate candidate;
	uint32_t *starts; /* tokens: count + 1, the end of the last included */
	size_t count, capacity;
	size_t interruptions;
	size_t compared, equal, equal_strict; /* tokens */
};

/* Whether the tokens from first on are the usual iteration. */
bool iterations_is_whole(const struct candidate *candidate, size_t first);

/* All iterations of a loop, instead of those that there were.  What interrupts only once lies between two
 * loops, of which this is one.  Returns 0 or -ENOMEM; the caller frees starts. */
int iterations_follow(struct iterations *iterations, const struct candidate *candidate);

/* The share of tokens that are those of the usual iteration, and whether that, and their count, makes a loop. */
double iterations_regularity(const struct iterations *iterations);
bool iterations_are_loop(const struct iterations *iterations);

/* The token after the last one. */
size_t iterations_end(const struct iterations *iterations);
void iterations_swap(struct iterations *a, struct iterations *b);

#endif
