/*
 * plain_file.h - what a file holds, block by block, also where it is compressed, without a byte order mark of UTF-8.
 */
#ifndef ROOFLINE_PLAIN_FILE_H
#define ROOFLINE_PLAIN_FILE_H

#include <stddef.h>

#include "base/err.h"

#define PLAIN_FILE_BLOCK_BYTES ((size_t)256 * 1024) /* at most */

struct plain_file;

/* The caller frees with plain_file_close, also after a failure. */
int plain_file_open(struct plain_file **out, const char *path, struct err *err);

/* The next block, which stays until the next call: 1, 0 at the end, or negative for a damaged or cut-off file. */
int plain_file_next(struct plain_file *file, const void **bytes, size_t *size, struct err *err);

void plain_file_close(struct plain_file *file);

#endif
