/*
 * html_whatif.h - the plan's pictures: a few iterations as they were and as they would be.
 *
 * Element `whatif` is a list, of each step of the plan that can be shown: both sides re-simulated
 * (whatif/side_by_side.h), with all steps before it.
 */
#ifndef ROOFLINE_HTML_WHATIF_H
#define ROOFLINE_HTML_WHATIF_H

#include "html/html_names.h"

/* Returns 0 or -ENOMEM. */
int html_write_whatif(const struct report *report, const struct html_names *names, FILE *out);

#endif
