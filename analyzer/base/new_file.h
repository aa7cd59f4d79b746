/*
 * new_file.h - a file that is there complete or not at all.
 *
 * It is written beside its place under another name, and renamed once everything is on the disk.
 */
#ifndef ROOFLINE_NEW_FILE_H
#define ROOFLINE_NEW_FILE_H

#include <limits.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

struct new_file {
	int fd;
	FILE *stream;		  /* of new_file_stream, or NULL */
	const char *path;	  /* as it was named: borrowed */
	char place[PATH_MAX];	  /* where it will be: behind links */
	char temporary[PATH_MAX]; /* "": it is written in its place, which is no file of a disk */
};

/* Fails where path is something else than a file, or its folder cannot be written. */
int new_file_open(struct new_file *file, const char *path, struct err *err);

/* The same, but what is no file of a disk, such as a terminal or a pipe, is written itself. */
int new_file_open_any(struct new_file *file, const char *path, struct err *err);

/* A stream into it, which new_file_close closes; NULL without memory. */
FILE *new_file_stream(struct new_file *file, struct err *err);

/* With rc 0 puts the file into its place, with a negative one removes it.  Returns rc, or why that failed. */
int new_file_close(struct new_file *file, int rc, struct err *err);

/* write(2) until everything is written.  Returns 0 or a negative errno. */
int write_all(int fd, const void *bytes, size_t count);

#endif
