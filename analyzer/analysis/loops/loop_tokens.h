/*
 * loop_tokens.h - the submitting calls of one thread, each as two numbers.
 *
 * Equal loose numbers: the same kernel, kind of copy, memset or graph on the
 * same stream.  Which graph counts only where graphs take turns regularly; one that is instantiated
 * anew now and then, or chosen by data, does the same work.  Equal strict numbers: the same grid, block and bytes as well.
 * Calls that failed submitted nothing and are no tokens.
 *
 * Libraries choose a kernel by the sizes that they are called with.  By families, those that may stand for each other have
 * equal numbers: all of cuBLAS, for example.
 */
#ifndef ROOFLINE_LOOP_TOKENS_H
#define ROOFLINE_LOOP_TOKENS_H

#include "analysis/loops/submissions.h"
#include "trace/profile.h"

#include <stdbool.h>

#define TOKEN_TAKEN 0 /* loose number of what belongs to a loop already; equals no token */

struct tokens {
	const struct profile *profile;
	const struct submissions *submissions;
	uint32_t *loose, *strict;
	uint32_t *calls; /* calls[] of each */
	size_t count;
	const uint32_t *families; /* borrowed: those of tokens_families, or NULL */
};

/* Return a number for each of kernel_names[], owned by the caller; NULL without memory. */
uint32_t *tokens_families(const struct profile *profile);

/* Return whether libraries chose most of the thread's kernels. */
bool tokens_are_chosen(const uint32_t *families, const struct profile *profile,
		       const struct submissions *submissions, const struct profile_thread *thread);

/* families: NULL, or those by which kernels are equal; borrowed.  Returns 0 or -ENOMEM; the caller frees with tokens_free, also
 * after a failure. */
int tokens_build(struct tokens *tokens, const struct profile *profile,
		 const struct submissions *submissions, const struct profile_thread *thread,
		 const uint32_t *families);
void tokens_free(struct tokens *tokens);

/* The first operation of the token, or NULL where none was recorded. */
const struct profile_op *tokens_op(const struct tokens *tokens, size_t token);

static inline uint32_t token_mix(uint32_t hash, uint32_t value)
{
	hash = (hash ^ value) * 0x9e3779b1u;
	return hash ^ hash >> 15;
}

static inline bool token_equal(const struct tokens *tokens, size_t a, size_t b)
{
	return tokens->loose[a] == tokens->loose[b] && tokens->loose[a] != TOKEN_TAKEN;
}

#endif
