/*
 * csv_text.h - rows of a CSV table as text in memory.
 */
#ifndef ROOFLINE_CSV_TEXT_H
#define ROOFLINE_CSV_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define CSV_NUMBER_BYTES 21 /* 20 digits or a sign and 19, and the comma */
#define CSV_FRACTION_BYTES \
	32 /* sign, 17 digits, decimal point of a few bytes, exponent, and the comma */

struct csv_text {
	char *bytes;
	size_t used, room;
};

/* Where so many more bytes can be written; NULL when memory is out. */
char *csv_reserve(struct csv_text *text, size_t bytes);

/* Each writes a value and returns the place behind it. */
char *csv_put_u64(char *out, uint64_t value);
char *csv_put_i64(char *out, int64_t value);
char *csv_put_f64(char *out, double value);
char *csv_put_text(char *out, const char *text); /* invalid UTF-8 becomes U+FFFD */

/* At most so many bytes does csv_put_text() write, and a comma. */
size_t csv_text_room(const char *text);

uint64_t csv_count_lines(const char *bytes, size_t length);

#endif
