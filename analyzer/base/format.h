/*
 * format.h - figures for people: three significant digits and a unit that fits.
 *
 * Each returns a small struct by value, so that it can stand in a printf:
 * printf("%9s", format_ns(x).text).
 */
#ifndef ROOFLINE_FORMAT_H
#define ROOFLINE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

struct figure {
	char text[32];
};

struct figure format_ns(double ns);	      /* 812 ns, 1.02 us, 34.5 ms, 7.20 s */
struct figure format_moment(int64_t ns);      /* 2.804127ms: exact, as --from takes it */
struct figure format_bytes(double bytes);     /* 812 B, 4.00 KiB, 1.50 GiB */
struct figure format_rate(double byte_per_s); /* 27.1 GB/s, "-" for 0 */
struct figure format_per_s(double value, const char *unit); /* 61.2 TFLOP/s for "FLOP/s" */
struct figure format_count(uint64_t count);		    /* 1,234,567 */
struct figure format_percent(double part, double whole);    /* 12.3%, "-" when whole is 0 */
struct figure format_speedup(double speedup);		    /* 3.91x, 128x, "-" for 0 */

/* "CUDA 13.0" style version of a number that packs 1000 * major + 10 * minor. */
struct figure format_cuda_version(uint64_t version);

/* Bytes of the character that text begins with; 0 when a terminal must not get it: a control
 * character, or a byte that is no UTF-8.  Such a byte is shown as '?'. */
size_t format_character(const char *text);

/* Copies text with such bytes made visible, so that names cannot move the cursor, cut to width
 * columns.  Returns the columns used; UTF-8 counts by code points. */
size_t format_text(char *buffer, size_t size, const char *text, size_t width);

/* The same of a path in a sentence, in full. */
struct format_path {
	char text[4096];
};
struct format_path format_path(const char *path);

#endif
