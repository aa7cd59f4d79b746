/*
 * narrow.h - lines that were laid out for PAGE_WIDTH columns on a terminal that has fewer.
 */
#ifndef ROOFLINE_NARROW_H
#define ROOFLINE_NARROW_H

#include <stddef.h>
#include <stdio.h>

/* First byte of a line that stays as it is, such as a command to copy; it is not written. */
#define NARROW_KEEP '\001'

/* Writes text to out, each line that has more than width columns as several: it is broken between words, a number and its
 * unit stay together, and what is behind the break keeps its blanks, so that columns of a table stay columns.  Bars of #
 * that do not fit are left out. */
void narrow_put(FILE *out, const char *text, size_t length, size_t width);

#endif
