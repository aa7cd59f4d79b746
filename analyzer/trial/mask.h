/*
 * mask.h - what is not compared: each match of a regular expression is one character in its line.
 */
#ifndef ROOFLINE_TRIAL_MASK_H
#define ROOFLINE_TRIAL_MASK_H

#include <regex.h>

#include "trial/difference.h"

/* A match does not go beyond its line.  Returns 0 or -ENOMEM, and then the text is as it was. */
int trial_mask(struct trial_text *text, const regex_t *regex);

#endif
