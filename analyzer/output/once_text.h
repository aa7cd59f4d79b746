/*
 * once_text.h - what of a section's times happens once, as a sentence below its rows.
 */
#ifndef ROOFLINE_ONCE_TEXT_H
#define ROOFLINE_ONCE_TEXT_H

#include "analysis/time/steady_split.h"
#include "output/page.h"

/* The rows of a section and what they are called; NULL after the last. */
typedef const struct steady_split *(*once_function)(const struct page *page, size_t index,
						    char *name, size_t size);

/* "once: 96.4 ms, 95.1% of these times: cuInit 96.2 ms (all)"; nothing where next to nothing lies outside of the
 * steady state, or not all of it is divided. */
void once_put(struct page *page, once_function row_at);

#endif
