/*
 * err.h - one description of what went wrong, written where it is known best.
 *
 * Functions below cmd/ never print: they return a negative errno and describe
 * the problem once, naming file, line and remedy.  Only cmd_* shows it.
 */
#ifndef ROOFLINE_ERR_H
#define ROOFLINE_ERR_H

struct err {
	char text[1024]; /* "" while nothing went wrong; one line without control characters */
};

/* Describes the problem and returns code, so that `return err_set(err, -ENOMEM, ...)` is one line.
 * The first description wins: a caller that adds nothing cannot overwrite it.  err may be NULL. */
__attribute__((format(printf, 3, 4))) int err_set(struct err *err, int code, const char *format,
						  ...);

#endif
