/*
 * html.h - one recording, or a comparison of several, as one page for a browser, which needs no network and no other file.
 *
 * The page itself, its style and its scripts, is html/ at the top of the repository; `make` puts them into one file,
 * share/rooflinectl/html/page.html.  What is written here are the data that it shows: the report as JSON, and the
 * timeline as blocks of compressed numbers (html_blocks.h).  It must not know how anything looks.
 */
#ifndef ROOFLINE_HTML_H
#define ROOFLINE_HTML_H

#include <stdio.h>

#include "analysis/compare/sides.h"
#include "analysis/report.h"

/* Writes the page; report->advice is there.  Fails where the page's own file is missing (-ENOENT), where out cannot be
 * written (-EIO), or with -ENOMEM. */
int html_write(const struct report *report, FILE *out, struct err *err);

/* The same of a comparison, once its sides are compared. */
int html_write_comparison(const struct sides *sides, FILE *out, struct err *err);

#endif
