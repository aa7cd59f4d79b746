/*
 * strings.h - every text of a profile once, owned in one place.
 */
#ifndef ROOFLINE_STRINGS_H
#define ROOFLINE_STRINGS_H

struct strings;

struct strings *strings_create(void); /* NULL without memory */

/* The one copy of text, valid until strings_free; equal texts give equal pointers.  NULL without
 * memory. */
const char *strings_intern(struct strings *strings, const char *text);

void strings_free(struct strings *strings); /* NULL is fine */

#endif
