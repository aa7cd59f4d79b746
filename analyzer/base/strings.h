/*
 * strings.h - every text of a profile once, owned in one place.
 */
#ifndef ROOFLINE_STRINGS_H
#define ROOFLINE_STRINGS_H

#include <stdint.h>

struct strings;

struct strings *strings_create(void); /* NULL without memory */

/* The one copy of text, valid until strings_free; equal texts give equal pointers.  NULL without
 * memory. */
const char *strings_intern(struct strings *strings, const char *text);

/* The same as a number: 0 for the first different text, 1 for the second, and so on.  UINT32_MAX
 * without memory. */
uint32_t strings_number(struct strings *strings, const char *text);

void strings_free(struct strings *strings); /* NULL is fine */

#endif
