/*
 * html_page.h - the page's own file with data put into it.
 *
 * Knows where data go, not which.
 */
#ifndef ROOFLINE_HTML_PAGE_H
#define ROOFLINE_HTML_PAGE_H

#include <stdio.h>

#include "base/err.h"

/* Writes data (html_blocks.h): to out what the page needs at once, to later, which comes behind the script, what can wait.
 * Returns 0 or a negative errno described in err. */
typedef int (*html_data_writer)(const void *from, FILE *out, FILE *later, struct err *err);

/* The whole page.  Fails where the page's own file is missing (-ENOENT), where out cannot be written (-EIO), with -ENOMEM, or
 * as write does. */
int html_page_write(html_data_writer write, const void *from, FILE *out, struct err *err);

#endif
