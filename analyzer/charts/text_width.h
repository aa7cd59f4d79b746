/*
 * text_width.h - how wide a text is in a picture.
 *
 * gnuplot does not tell.  The font is Arial; where that is missing, systems take Liberation Sans or Helvetica, whose letters
 * are as wide.
 */
#ifndef ROOFLINE_TEXT_WIDTH_H
#define ROOFLINE_TEXT_WIDTH_H

#include <stdbool.h>

#include "charts/chart_file.h"

/* Pixels, in the font of 13 pixels that all texts but titles have. */
double text_width(const char *text);

/* The same, or of a drawing made of characters their number. */
double text_extent(const char *text, bool is_in_characters);

/* What plots/style.gp computes the same from: text_ascii, the characters in order, and advance[], the pixels of each, after
 * those of every other character. */
void text_width_set(struct chart_file *file);

#endif
