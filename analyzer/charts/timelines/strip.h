/*
 * strip.h - reduces the samples of one metric to the columns of a picture.
 *
 * A picture has a thousand columns, a recording has millions of samples.  Each
 * column keeps the mean over the time in it that was sampled, and the least and
 * the most that a sample in it had: a spike of one sample is still as high as it
 * was.  Time that was not sampled is known as such and never as zero.
 *
 * Pure, one pass, memory for the columns only.  It must not know what is measured.
 */
#ifndef ROOFLINE_STRIP_H
#define ROOFLINE_STRIP_H

#include <stdint.h>

struct strip_column {
	int64_t sampled_ns; /* 0: no sample touches it */
	double value_ns;    /* sum of value times nanoseconds */
	double part_ns;	    /* likewise of the part */
	double least, most; /* of the samples that touch it */
};

struct strip {
	int64_t from_ns, to_ns;
	int column_count;
	struct strip_column *columns; /* owned */
};

/* Shows [from_ns, to_ns), which is not empty, with so many columns, or one a nanosecond where that
 * is fewer.  Returns 0 or -ENOMEM. */
int strip_open(struct strip *strip, int64_t from_ns, int64_t to_ns, int column_count);
void strip_close(struct strip *strip); /* all zero is fine */

/* Adds a sample that had that value all the time; part is what it contains of something, 0 if
 * nothing.  In any order; what lies outside the window is cut off. */
void strip_add(struct strip *strip, int64_t start_ns, int64_t end_ns, double value, double part);

/* Where a column begins; that of column_count is where the last one ends. */
int64_t strip_edge(const struct strip *strip, int column);

/* Of the time in a column that was sampled; 0 where none was. */
double strip_mean(const struct strip_column *column);
double strip_part(const struct strip_column *column);

#endif
