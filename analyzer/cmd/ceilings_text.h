/*
 * ceilings_text.h - ceilings as a table for people, 80 columns wide.
 */
#ifndef ROOFLINE_CEILINGS_TEXT_H
#define ROOFLINE_CEILINGS_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "analysis/counters/ceilings.h"

/* note is a sentence on where they are from, or NULL. */
void ceilings_text(const struct ceilings *ceilings, const char *note, bool has_color, FILE *out);

#endif
