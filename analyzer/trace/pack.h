/*
 * pack.h - a recording becomes one file, and a folder again.
 */
#ifndef ROOFLINE_PACK_H
#define ROOFLINE_PACK_H

#include "base/err.h"

#define PACK_LEVEL \
	9 /* of zstd: 35 MB/s; level 19 makes it a quarter smaller and takes 20 times as long */
#define PACK_LEVEL_MOST 19

/*
 * Writes the recording in a folder to fd, which target names in err.  All files there are packed, in the order of their
 * names, without times and owners, so that equal recordings make equal files; tables without a row are left out, as
 * a table that is missing reads alike.  Fails at a link and at whatever else is neither a folder nor a file.
 */
int pack_write(const char *folder, int fd, const char *target, int level, struct err *err);

/* Makes a folder of a packed recording (packed_open says what path may be), or leaves nothing. */
int pack_extract(const char *path, const char *folder, struct err *err);

#endif
