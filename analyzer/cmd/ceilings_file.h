/*
 * ceilings_file.h - stored ceilings: one JSON file per GPU and driver.
 *
 * docs/commands/ceilings.md describes the file.  Where files lie and which one
 * fits a recording is known by ceilings_choice.h.
 */
#ifndef ROOFLINE_CEILINGS_FILE_H
#define ROOFLINE_CEILINGS_FILE_H

#include <stdio.h>

#include "analysis/counters/ceilings.h"
#include "base/err.h"

/* Raised when a key goes or changes its meaning; keys and names of ceilings may be added. */
#define CEILINGS_SCHEMA 1

/* Reads a file that ceilings_file_write wrote, or one edited since.  Rows whose name is not known
 * are counted in unknown_count.  Fails with -ENOENT and the like, -EINVAL for what is no such file,
 * or -ENOMEM.  The caller frees *out with ceilings_free. */
int ceilings_file_read(struct ceilings **out, const char *path, struct err *err);

/* Writes beside path and renames, so that nobody reads half a file; makes the folders above it. */
int ceilings_file_write(const struct ceilings *ceilings, const char *path, struct err *err);

/* The same JSON into a stream that is open.  Fails with -ENOMEM or -EIO. */
int ceilings_file_print(const struct ceilings *ceilings, FILE *out, struct err *err);

#endif
