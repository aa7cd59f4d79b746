/*
 * html_samples.h - a row of hardware samples in a page.
 */
#ifndef ROOFLINE_HTML_SAMPLES_H
#define ROOFLINE_HTML_SAMPLES_H

#include "html/html_blocks.h"
#include "html/html_levels.h"

/* Writes block sNUMBER: for each of so many columns of the window a byte each, all of the first, then of the second,
 * ...: how much of the column was sampled, the mean, the part of it (tensor cores of the SMs, ...), and the most; 255
 * is all, or the full scale.  Adds to row what they are.  Returns 0 or -ENOMEM. */
int html_write_samples(const struct html_names *names, const struct html_row *row,
		       struct html_window window, int number, json_t *object, FILE *out);

#endif
