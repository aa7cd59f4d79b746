/*
 * text_file.h - a file in which formats of text are written, and texts that are safe in them.
 */
#ifndef ROOFLINE_TEXT_FILE_H
#define ROOFLINE_TEXT_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "exchange/export/export_target.h"

/* A stream into it. */
int text_file_open(FILE **out, const struct export_target *target, struct err *err);

/* Closes the stream.  Returns rc where that is negative, or why not everything was written. */
int text_file_close(FILE *file, const struct export_target *target, int rc, struct err *err);

/* A JSON string with its quotes: valid UTF-8 whatever the text is. */
void text_put_json(FILE *file, const char *text);

/* A JSON number: null for what is none. */
void text_put_number(FILE *file, double number);

/* Microseconds with all digits of the nanoseconds: "12.345". */
void text_put_us(FILE *file, int64_t ns);

/* Text as valid UTF-8 without control characters, in buffer, cut where that is full. */
void text_clean(char *buffer, size_t size, const char *text);

#endif
