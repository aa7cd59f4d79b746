/*
 * summary_text.h - what is in a file, as lines.
 */
#ifndef ROOFLINE_SUMMARY_TEXT_H
#define ROOFLINE_SUMMARY_TEXT_H

#include "base/err.h"

/* What the text begins with; the number of the format follows. */
#define SUMMARY_MAGIC "roofline-summary "

/* The text of a file that summary_write wrote, or of one that holds it as it is.  The caller frees it.  Fails where the
 * file cannot be read, or is damaged, or holds more than a summary of its size could. */
int summary_text_read(char **text, const char *path, struct err *err);

#endif
