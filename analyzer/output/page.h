/*
 * page.h - what the sections of the text report share: titles, wrapping, bars, names.
 */
#ifndef ROOFLINE_PAGE_H
#define ROOFLINE_PAGE_H

#include "base/format.h"
#include "output/outputs.h"

#define PAGE_WIDTH 80
#define PAGE_WIDTH_LEAST 30 /* of a terminal, however narrow it is */
#define PAGE_WIDTH_MOST 200 /* of a terminal: longer lines are hard to read */
#define PAGE_TOP 10	    /* rows of a list unless --top says otherwise */

struct page {
	FILE *out;
	const struct report *report;
	const struct output_options *options;
	const struct kernel_labels
		*kernel_labels; /* what kernels are called here; NULL: by their names */
	bool is_begun;		/* something was printed: sections keep a blank line between them */
	size_t title_count;
	bool has_failed;       /* memory ran out for something of it */
	bool is_program_noted; /* in this section, by page_command */
	FILE *screen; /* narrower than PAGE_WIDTH: where it goes when it is complete; else NULL */
	char *kept;   /* what goes there */
	size_t kept_size;
};

/* Before anything is put on a page: lays out for the terminal that options->width says. */
void page_begin(struct page *page);

/* Whether all of it was written.  Fails with -ENOMEM or -EIO; what: "the report". */
int page_finish(struct page *page, const char *what, struct err *err);

/* Columns of a line: PAGE_WIDTH, or more on a wider terminal. */
size_t page_width(const struct page *page);

/* The same on a narrower terminal than PAGE_WIDTH: what is not a table is laid out for this. */
size_t page_columns(const struct page *page);

/* "Kernels", bold where color is wanted, and gray text behind it unless note is NULL. */
void page_title(struct page *page, const char *title, const char *note);

/* The same with a note like "10 of 34" where not all rows are shown. */
void page_list_title(struct page *page, const char *title, const char *note, size_t shown,
		     size_t count);

/* Column heads, gray. */
void page_heads(struct page *page, const char *heads);

/* label, then text wrapped at page_columns(); lines after the first are indented by indent columns. */
void page_wrap(struct page *page, const char *label, const char *text, size_t indent);

/* text as it is, but for what a terminal must not get.  NULL: there was no memory for it. */
void page_put(struct page *page, const char *text);

/* label and then text on a line of its own, however long, so that it can be copied. */
void page_line(struct page *page, const char *label, const char *text);

/* The same of a command to paste.  Below the first of a section that runs the program as it was recorded, a comment of the
 * shell says so: another user may have made the recording. */
void page_command(struct page *page, const char *label, const char *command);

/* A bar of part out of whole, width columns at most, and the end of the line. */
void page_bar(struct page *page, int64_t part, int64_t whole, size_t width);

/* text left-aligned in width columns; longer text is cut, or pushes the rest aside with --wide. */
void page_text(struct page *page, const char *text, size_t width);

/* The same for the name of a kernel. */
void page_kernel(struct page *page, const char *name, size_t width);

/* How many columns of a kernel's name are shown where there are enough. */
size_t page_kernel_columns(const struct page *page, const char *name);

/* The same on a line of its own: nothing follows it. */
void page_kernel_line(struct page *page, const char *name);

/* How many of count rows to print: as many as --top says, or the section's own choice. */
size_t page_rows(const struct page *page, size_t count, size_t choice);

/* What an operation is, in a few words: "saxpy", "copy HtoD 4.00 MiB", "graph 3". */
void page_describe_op(const struct page *page, const struct profile_op *op, char *buffer,
		      size_t size, size_t width);

/* "  label  1.20 ms  12.3%  ####": a part of a device's wall time. */
void page_share(struct page *page, const char *label, int64_t part_ns, int64_t wall_ns);

/* A column of page_table.  Its figure follows from the unit at the end of the key: _ns, bytes,
 * byte_per_s, or a count. */
struct text_column {
	const char *head;
	int width;	 /* negative: text, on the left */
	const char *key; /* of the section's table, but for a get of its own */
	struct value (*get)(struct row *row, const void *from);
};

/* The rows of a section as a table with title and heads; nothing when there are none. */
void page_table(struct page *page, const struct section *section, const char *note,
		const struct text_column *columns);

#endif
