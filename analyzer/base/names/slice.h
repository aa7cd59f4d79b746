/*
 * slice.h - parts of a text that is somebody else's, and a text that is put together from them.
 */
#ifndef ROOFLINE_SLICE_H
#define ROOFLINE_SLICE_H

#include <stdbool.h>
#include <stddef.h>

struct slice {
	const char *at;
	size_t length;
};

/* What follows the first start bytes; empty where there are not so many. */
struct slice slice_from(struct slice text, size_t start);

/* At most the first or the last length bytes, and no half character. */
struct slice slice_head(struct slice text, size_t length);
struct slice slice_tail(struct slice text, size_t length);

struct slice slice_trim(struct slice text); /* without blanks around it */
bool slice_is(struct slice text, const char *other);
bool slice_begins(struct slice text, const char *beginning);
bool slice_ends(struct slice text, const char *ending);

/* From the first place of part on; empty where it is not. */
struct slice slice_find(struct slice text, const char *part);

/* The first place at or behind start that is one of wanted (blank, colon, comma or bracket) and in no bracket that opens behind start, with <>, (), {}
 * and [] of C++; text.length where there is none. */
size_t slice_next_outside(struct slice text, size_t start, const char *wanted);

struct slice_text {
	char *at; /* ends in a NUL */
	size_t size, length;
	bool is_full; /* something was left out */
};

void slice_text_put(struct slice_text *text, struct slice part);
void slice_text_puts(struct slice_text *text, const char *part);
void slice_text_shorten(struct slice_text *text, size_t length); /* and is no longer full */

#endif
