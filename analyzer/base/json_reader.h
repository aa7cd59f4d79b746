/*
 * json_reader.h - JSON from a file or a text; what is none is told from what there is no memory for.
 *
 * jansson calls both invalid in most places, and who passes over what is invalid would answer with something missing.
 */
#ifndef ROOFLINE_JSON_READER_H
#define ROOFLINE_JSON_READER_H

#include <jansson.h>

/* Each value takes up to a hundred times its bytes in memory; no document of ours is as large. */
#define JSON_READER_MOST_BYTES ((size_t)16 << 20)

/* Returns 0 and root, which the caller lets go of with json_decref; -ENOMEM; -EINVAL, and problem says where; -EFBIG beyond
 * JSON_READER_MOST_BYTES; or another negative errno where the file cannot be read.  flags: JSON_REJECT_DUPLICATES and such. */
int json_reader_file(json_t **root, const char *path, size_t flags, json_error_t *problem);
int json_reader_text(json_t **root, const char *text, size_t flags, json_error_t *problem);

#endif
