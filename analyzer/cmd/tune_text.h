/*
 * tune_text.h - what a search has found, for people and as JSON.
 */
#ifndef ROOFLINE_TUNE_TEXT_H
#define ROOFLINE_TUNE_TEXT_H

#include <stdio.h>

#include "base/err.h"
#include "cmd/tune_measure.h"

void tune_text_head(FILE *out, const struct tune_options *options);
void tune_text_result(FILE *out, const struct tune_bench *bench,
		      const struct tune_session *session);

/* Fails with -ENOMEM, or -EIO where it cannot be written. */
int tune_json_result(FILE *out, const struct tune_bench *bench, const struct tune_session *session,
		     struct err *err);

#endif
