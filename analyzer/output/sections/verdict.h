/*
 * verdict.h - the part of the verdict that was measured, which can be told before advice is found.
 */
#ifndef ROOFLINE_SECTION_VERDICT_H
#define ROOFLINE_SECTION_VERDICT_H

struct page;

/* Its title, and what limits the run. */
void verdict_print_limit(struct page *page);

#endif
