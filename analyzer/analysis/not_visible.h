/*
 * not_visible.h - what CUPTI could not see in a recording, in sentences.
 */
#ifndef ROOFLINE_NOT_VISIBLE_H
#define ROOFLINE_NOT_VISIBLE_H

struct report;

/* Fills in report->not_visible, from all the analyses.  Returns 0 or -ENOMEM. */
int not_visible_find(struct report *report);

#endif
