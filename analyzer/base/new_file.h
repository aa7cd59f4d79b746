/*
 * new_file.h - a file that is there complete or not at all.
 *
 * It is written beside its place under another name, and renamed once everything is on the disk.
 */
#ifndef ROOFLINE_NEW_FILE_H
#define ROOFLINE_NEW_FILE_H

#include <limits.h>
#include <stddef.h>

#include "base/err.h"

struct new_file {
	int fd;
	const char *path; /* where it will be: borrowed */
	char temporary[PATH_MAX];
};

/* Fails where path is something else than a file, or its folder cannot be written. */
int new_file_open(struct new_file *file, const char *path, struct err *err);

/* With rc 0 puts the file into its place, with a negative one removes it.  Returns rc, or why that failed. */
int new_file_close(struct new_file *file, int rc, struct err *err);

/* write(2) until everything is written.  Returns 0 or a negative errno. */
int write_all(int fd, const void *bytes, size_t count);

#endif
