/*
 * limit_text.h - what limits a run, in a sentence: the same in the verdict and in a comparison.
 */
#ifndef ROOFLINE_LIMIT_TEXT_H
#define ROOFLINE_LIMIT_TEXT_H

#include "analysis/report.h"

struct sentence {
	char text[1024];
};

/* What does not fit is cut. */
__attribute__((format(printf, 2, 3))) void sentence_append(struct sentence *sentence,
							   const char *format, ...);

/* "idle time, 67.6% of 9.46 ms; its largest cause is launch, 45.3%".  The report must have its ceilings, where there are
 * some. */
struct sentence limit_sentence(const struct report *report);

#endif
