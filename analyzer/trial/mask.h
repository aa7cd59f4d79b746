/*
 * mask.h - what is not compared: each match of a regular expression is one character in its line.
 */
#ifndef ROOFLINE_TRIAL_MASK_H
#define ROOFLINE_TRIAL_MASK_H

#include <regex.h>

#include "trial/text.h"

/* A match does not go beyond its line.  Returns 0 or -ENOMEM, and then the text is as it was. */
int trial_mask(struct trial_text *text, const regex_t *regex);

/* An extended regular expression for the first number in which two lines differ, with its unit or the word before it; NULL
 * where they differ by anything else than numbers, or that one is no time or rate by its unit and that word.  Returns 0 or -ENOMEM; the caller frees it. */
int trial_suggest_mask(char **out, const char *one, const char *other);

#endif
