/*
 * text.h - what one run wrote.
 *
 * A large text is not kept: of it the length and a hash are known, which tell whether two are equal but not where they differ.
 */
#ifndef ROOFLINE_TRIAL_TEXT_H
#define ROOFLINE_TRIAL_TEXT_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIAL_MOST_KEPT_BYTES (16 << 20) /* of each text */

/* Neither bytes nor is_hashed: nothing, for the file is not there. */
struct trial_text {
	char *bytes; /* owned, with a NUL behind them */
	size_t length;
	bool is_hashed; /* it is too large to be kept */
	uint64_t hash;	/* then */
};

bool trial_text_is_there(const struct trial_text *text);
bool trial_text_is_same(const struct trial_text *one, const struct trial_text *other);

/* Reads a file from its start.  What the expressions match is masked (mask.h); beyond most_bytes only the hash is kept.
 * Returns 0, -EIO or -ENOMEM; the caller frees the text with trial_text_free. */
int trial_text_read(struct trial_text *text, int file, const regex_t *masks, size_t mask_count,
		    size_t most_bytes);
void trial_text_free(struct trial_text *text);

#endif
